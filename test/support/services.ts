// The bundled application for tests: a migrated database, and real web and worker processes on sockets of their own.
// `stop` ends every process it started; a test that fails leaves nothing behind.

import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import pg from "pg";
import type { AppConfig } from "../../config/config.ts";
import { DEFAULTS } from "../../config/defaults.ts";
import { systemClock } from "../../config/system-time.ts";
import { COMPILED } from "./code-cache.ts";
import { startTestPostgres, type TestPostgres } from "./postgres.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
export const PASSWORD = "correct horse battery";

export type AppConfigChange = { readonly [K in keyof AppConfig]?: Partial<AppConfig[K]> | AppConfig[K] };

/** A configuration with small figures; `change` is laid over its top-level keys. */
export function testAppConfig(databaseUrl: string, dir: string, change: AppConfigChange = {}): AppConfig {
  const base: AppConfig = {
    language: "en",
    databaseUrl,
    turn: { finishMs: 3_000, wrapUpMs: 2_000, claimMs: 20_000, limitMs: 60_000, onStop: "handOver" },
    graceMs: 8_000,
    heartbeat: { intervalMs: 300, stalledAfterMs: 1_500 },
    retention: DEFAULTS.retention,
    web: { pool: 8 },
    worker: {
      pool: 12,
      concurrency: { chat: 4, transcription: 2, playbook: 2, "schema-analysis": 2 },
      accountShare: 1,
    },
    model: null,
    models: [],
    budget: { monthly: null },
    chat: { links: "anyone", titles: "question" },
    transcription: { engine: "auto", command: null, baseUrl: null, apiKey: null, model: null, onStop: "handBack" },
    archiveRoots: [],
    dataSources: {},
    mail: null,
    uploadsDir: join(dir, "uploads"),
    uploadBytes: 64 * 2 ** 20,
    limits: DEFAULTS.accountLimits,
    tools: { http: { allow: ["127.0.0.1"] }, approval: [], approvalOf: "everyone", approvers: "owner" },
    secureCookies: false,
  };
  const merged = Object.entries(change).map(([key, value]) => {
    const old = base[key as keyof AppConfig];
    const both = typeof old === "object" && old !== null && !Array.isArray(old) && typeof value === "object";
    return [key, both && value !== null ? { ...old, ...value } : value];
  });
  return { ...base, ...Object.fromEntries(merged) };
}

/** Applies the migrations, in order, to an empty database. */
export async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const files = (await readdir(join(ROOT, "migrations"))).filter((name) => name.endsWith(".sql")).sort();
    for (const name of files) await client.query(await readFile(join(ROOT, "migrations", name), "utf8"));
  } finally {
    await client.end();
  }
}

export interface Program {
  readonly id: string;
  readonly pid: number;
  readonly child: ChildProcess;
  readonly socket: string;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  log(): Promise<string>;
  /** The log's lines as objects. */
  lines(): Promise<readonly Record<string, unknown>[]>;
}

export interface Services {
  readonly postgres: TestPostgres;
  readonly url: string;
  readonly dir: string;
  readonly config: AppConfig;
  readonly sql: pg.Pool;
  prepare(
    env?: Readonly<Record<string, string>>,
  ): Promise<{ readonly code: number | null; readonly lines: readonly Record<string, unknown>[] }>;
  worker(id?: string, change?: AppConfigChange): Promise<Program>;
  web(id?: string, change?: AppConfigChange): Promise<Program & { readonly client: WebClient }>;
  stop(): Promise<void>;
}

/** Starts PostgreSQL, migrates and prepares; processes are started by the test. */
export async function startServices(
  change: AppConfigChange = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<Services> {
  const postgres = await startTestPostgres(settings);
  const url = await postgres.database();
  const dir = await mkdtemp("/tmp/owl-services-");
  await mkdir(join(dir, "uploads"));
  await migrate(url);
  const config = testAppConfig(url, dir, change);
  const sql = new pg.Pool({ connectionString: url, max: 4 });
  sql.on("error", () => undefined);
  const programs: Program[] = [];
  const numbers = new Map<string, number>();

  function start(service: string, id: string, env: Readonly<Record<string, string>>, own: AppConfig): Program {
    const socket = join(dir, `${id}.sock`);
    const file = join(dir, `${id}.log`);
    const child = spawn(process.execPath, [join(ROOT, `services/${service}/main.ts`)], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH ?? "",
        HOME: dir,
        OWL_HOME: dir,
        ...COMPILED,
        OWL_INSTANCE: id,
        OWL_SERVICE: service,
        OWL_RELEASE: "test",
        OWL_SOCKET: socket,
        PGAPPNAME: `owl/${id}`,
        OWL_APP_CONFIG: JSON.stringify(own),
        ...env,
      },
    });
    const out = createWriteStream(file, { flags: "a" });
    child.stdout?.pipe(out, { end: false });
    child.stderr?.pipe(out, { end: false });
    const log = () => readFile(file, "utf8").catch(() => "");
    const program: Program = {
      id,
      pid: child.pid ?? 0,
      child,
      socket,
      exited: new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal }))),
      log,
      async lines() {
        return (await log())
          .split("\n")
          .filter((line) => line.startsWith("{"))
          .map((line) => JSON.parse(line) as Record<string, unknown>);
      },
    };
    programs.push(program);
    return program;
  }

  function nextId(service: string): string {
    const number = (numbers.get(service) ?? 0) + 1;
    numbers.set(service, number);
    return `${service}-${number}`;
  }

  async function ready(program: Program): Promise<void> {
    await until(`${program.id} is ready`, async () => {
      if (program.child.exitCode !== null || program.child.signalCode !== null) {
        throw new Error(`${program.id} ended: ${await program.log()}`);
      }
      return (await get(program.socket, "/readyz").catch(() => null)) === 200;
    });
  }

  const services: Services = {
    postgres,
    url,
    dir,
    config,
    sql,
    async prepare(env = {}) {
      const program = start("prepare", nextId("prepare"), { OWL_ADMIN_PASSWORD: PASSWORD, ...env }, config);
      const { code } = await program.exited;
      return { code, lines: await program.lines() };
    },
    async worker(id = nextId("worker"), own = {}) {
      const program = start("worker", id, {}, testAppConfig(url, dir, { ...change, ...own }));
      await ready(program);
      return program;
    },
    async web(id = nextId("web"), own = {}) {
      const program = start("web", id, {}, testAppConfig(url, dir, { ...change, ...own }));
      await ready(program);
      return { ...program, client: createWebClient(program.socket) };
    },
    async stop() {
      for (const { child } of programs) {
        if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      }
      await Promise.all(programs.map((program) => program.exited));
      await sql.end();
      await postgres.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
  const prepared = await services.prepare();
  if (prepared.code !== 0) {
    const told = JSON.stringify(prepared.lines);
    await services.stop();
    throw new Error(`prepare failed: ${told}`);
  }
  return services;
}

/** Polls until `look` answers something true; throws after `boundMs`. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  boundMs = 90_000,
): Promise<T> {
  const endMs = systemClock.monotonicMs() + boundMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (systemClock.monotonicMs() > endMs) throw new Error(`It did not happen within ${boundMs} ms: ${what}`);
    await systemClock.sleep(25);
  }
}

function get(socketPath: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    asked.on("error", reject);
    asked.end();
  });
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back.
type Json = any;

export interface WebAnswer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface SseEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: Json;
}

export interface WebClient {
  /** A Buffer is sent as it is, anything else as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<WebAnswer>;
  signIn(name?: string, password?: string): Promise<WebAnswer>;
  /** A new conversation with one question; answers the turn's id. */
  ask(text: string, conversation?: string): Promise<{ readonly conversation: string; readonly turnId: string }>;
  turn(id: string): Promise<Json>;
  ended(id: string, boundMs?: number): Promise<Json>;
  /** Reads a stream until it ends or `stop` says so. */
  events(
    path: string,
    options?: { readonly lastId?: string; readonly stop?: (event: SseEvent) => boolean },
  ): Promise<readonly SseEvent[]>;
}

/** Talks to a web process on its own socket. */
export function createWebClient(at: string | number): WebClient {
  const place = typeof at === "number" ? { host: "127.0.0.1", port: at } : { socketPath: at };
  let cookie = "";
  const call: WebClient["call"] = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const raw = Buffer.isBuffer(body);
      const payload = body === undefined ? undefined : raw ? body : JSON.stringify(body);
      const asked = request(
        {
          ...place,
          path,
          method,
          agent: false,
          headers: {
            host: "owl.test",
            cookie,
            ...(payload === undefined ? {} : { "content-type": raw ? "application/octet-stream" : "application/json" }),
            ...headers,
          },
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () => {
            const set = response.headers["set-cookie"];
            if (set) cookie = set.map((one) => one.split(";")[0]).join("; ");
            let parsed: Json = text;
            try {
              parsed = text === "" ? null : JSON.parse(text);
            } catch {
              // Not JSON: the text itself is the body.
            }
            resolve({ status: response.statusCode ?? 0, body: parsed, headers: response.headers });
          });
          response.on("error", reject);
        },
      );
      asked.on("error", reject);
      asked.end(payload);
    });
  const client: WebClient = {
    call,
    signIn: (name = "admin", password = PASSWORD) => call("POST", "/api/session", { name, password }),
    async ask(text, given) {
      const conversation = given ?? (await call("POST", "/api/conversations", {})).body.id;
      const { status, body } = await call("POST", `/api/conversations/${conversation}/turns`, { text });
      if (status !== 202) throw new Error(`asking was refused: ${status} ${JSON.stringify(body)}`);
      return { conversation, turnId: body.turnId };
    },
    turn: async (id) => (await call("GET", `/api/turns/${id}`)).body,
    ended: (id, boundMs) =>
      until(
        `turn ${id} ended`,
        async () => {
          const turn = await client.turn(id);
          return ["answered", "stopped", "failed"].includes(turn.state) && turn;
        },
        boundMs,
      ),
    events: (path, options = {}) =>
      new Promise((resolve, reject) => {
        const seen: SseEvent[] = [];
        const lastId = options.lastId === undefined ? {} : { "last-event-id": options.lastId };
        const asked = request(
          {
            ...place,
            path,
            agent: false,
            headers: { host: "owl.test", cookie, accept: "text/event-stream", ...lastId },
          },
          (response) => {
            let text = "";
            response.setEncoding("utf8");
            response.on("data", (chunk: string) => {
              text += chunk;
              for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
                const event = parseFrame(text.slice(0, end));
                text = text.slice(end + 2);
                if (!event) continue;
                seen.push(event);
                if (options.stop?.(event)) asked.destroy();
              }
            });
            response.on("close", () => resolve(seen));
          },
        );
        asked.on("error", (error) => (seen.length > 0 ? resolve(seen) : reject(error)));
        asked.end();
      }),
  };
  return client;
}

function parseFrame(frame: string): SseEvent | null {
  const fields = new Map<string, string>();
  for (const line of frame.split("\n")) {
    const match = /^(\w+): ?(.*)$/.exec(line);
    if (match) fields.set(match[1] as string, match[2] as string);
  }
  const event = fields.get("event");
  if (event === undefined) return null;
  const id = fields.get("id");
  return { ...(id === undefined ? {} : { id }), event, data: JSON.parse(fields.get("data") ?? "null") };
}
