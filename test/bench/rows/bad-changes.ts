// Twenty bad changes of a team's own code, one after another, under 200 requests a second: what they cost whoever asks,
// and how long it takes until the old one answers again with nobody's hand. All by default
// but for the time to become ready, which costs nobody anything.

import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import { createProduct, type Product } from "../../chaos/product.ts";
import { untilSteady } from "../bundled.ts";
import { type Bench, isWantedCase, type Row } from "../figures.ts";

const REQUESTS_PER_S = 200;
const MOST_FAILED_SHARE = 0.001;
const MOST_SECONDS_BACK = 15;
const ANSWER_WITHIN_MS = 10_000;
/** So long nothing but the old one has answered, and it counts as back. */
const CALM_MS = 3_000;
const LONGEST_MS = 90_000;
const PROGRAM = new URL("../../support/programs/turns-bad.ts", import.meta.url).pathname;

interface BadChange {
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Keys of the service that differ. */
  readonly keys?: Readonly<Record<string, unknown>>;
  /** It stands its time and turns bad only then. */
  readonly isLate?: true;
}

const bad = (kind: string, afterMs = 0, more = {}) => ({ env: { BAD: kind, BAD_MS: String(afterMs), ...more } });

const changesIn = (home: string, port: number): readonly BadChange[] => [
  { name: "exits after 1 s", ...bad("exit", 1_000) },
  { name: "exits after 4 s", ...bad("exit", 4_000) },
  { name: "exits after 20 s", ...bad("exit", 20_000), isLate: true },
  { name: "answers 10 % with 500", ...bad("errors") },
  { name: "answers everything with 500 after 4 s", ...bad("errors", 4_000, { BAD_EACH: "1" }) },
  { name: "leaks 40 MiB/s", ...bad("leak"), keys: { memory: { limit: "160MiB" } } },
  { name: "is slow", ...bad("slow") },
  { name: "never answers but its check", ...bad("silent") },
  { name: "hangs for ever after 4 s", ...bad("deadlock", 4_000) },
  { name: "fails its check after 4 s", ...bad("unhealthy", 4_000) },
  { name: "accepts and closes", ...bad("closes") },
  { name: "hangs up on all but its check after 4 s", ...bad("hangsUp", 4_000) },
  { name: "breaks its answers off", ...bad("breaksOff") },
  { name: "speaks no HTTP", ...bad("noHttp") },
  { name: "never listens", ...bad("never") },
  {
    name: "wants a port that is held",
    keys: { command: [process.execPath, "-e", `require("node:net").createServer().listen(${port}, "127.0.0.1")`] },
  },
  {
    name: "runs as a user who may not read it",
    keys: { user: "nobody", command: [process.execPath, join(home, "own/web.ts")] },
  },
  { name: "is a file that does not exist", keys: { command: [process.execPath, "/nonexistent.js"] } },
  { name: "is a program that does not exist", keys: { command: ["/nonexistent"] } },
  { name: "has a variable that breaks it", env: { NODE_OPTIONS: "--require /nonexistent.js" } },
];

export const badChangesBench: Bench = {
  name: "bad-changes",
  async run(log) {
    const product = await createProduct({ yaml: () => "" });
    const yaml = ({ env = {}, keys = {} }: Pick<BadChange, "env" | "keys">, says: string): string => {
      const web = {
        ...{ command: [process.execPath, PROGRAM], replicas: 2, health: { http: "/healthz" }, routes: [{ path: "/" }] },
        ...{ env: { ...env, SAYS: says }, ...keys },
      };
      // JSON is YAML.
      const whole = { proxy: { listen: `127.0.0.1:${product.port}` }, turn: { finish: "10s", wrapUp: "5s" } };
      return JSON.stringify({ ...whole, rollout: { healthTimeout: "30s" }, stop: { grace: "20s" }, services: { web } });
    };
    const write = (text: string) => writeFile(join(product.home, "owl.yaml"), text);
    try {
      mkdirSync(join(product.home, "own"));
      copyFileSync(PROGRAM, join(product.home, "own/web.ts"));
      chmodSync(join(product.home, "own/web.ts"), 0o600);
      await write(yaml({}, "old"));
      product.start();
      await untilSteady(product);
      const rows: Row[] = [];
      for (const change of changesIn(product.home, product.port).filter(({ name }) => isWantedCase(name))) {
        await write(yaml(change, "new"));
        rows.push(await suffer(product, change));
        log(`${change.name}: ${rows.at(-1)?.measured}`);
        await write(yaml({}, "old"));
        await product.ctl("reload");
        await untilSteady(product);
      }
      return rows;
    } finally {
      await product.stop(false);
    }
  },
};

async function suffer(product: Product, change: BadChange): Promise<Row> {
  const load = startLoad(product.port);
  await systemClock.sleep(1_000);
  const from = performance.now();
  let over = false;
  const reloading = product.ctl("reload").finally(() => {
    over = true;
  });
  const isBack = (): boolean => over && load.sinceOtherMs() >= CALM_MS && (!change.isLate || load.sawNew());
  for (const end = from + LONGEST_MS; performance.now() < end && !isBack(); ) await systemClock.sleep(50);
  const { code, stderr } = await reloading;
  const { sent, failures, firstNewMs, lastOtherMs } = await load.stop();
  const status = await product.status();
  const badFrom = Math.max(from + Number(change.env?.BAD_MS ?? 0), firstNewMs ?? from);
  const backS = Math.max(0, (lastOtherMs ?? badFrom) - badFrom) / 1_000;
  const isOldBack = isBackIn(status?.warnings ?? [], lastOtherMs);
  const how = (status?.warnings ?? []).find((line) => line.includes("owl.yaml")) ?? stderr.trim().split("\n").at(-1);
  const kinds = Object.entries(Object.groupBy(failures, (one) => one)).map(([kind, all]) => `${all?.length} ${kind}`);
  return {
    work: `a change that ${change.name}`,
    goal: `<= 0.1 % failed, old one back < ${MOST_SECONDS_BACK} s`,
    measured:
      `${failures.length} of ${sent} failed (${((100 * failures.length) / sent).toFixed(3)} %), ` +
      (isOldBack ? `back after ${backS.toFixed(1)} s` : "the old one is not back"),
    met: isOldBack && failures.length <= MOST_FAILED_SHARE * sent && backS < MOST_SECONDS_BACK,
    note: [...kinds, `reload: exit code ${code}`, how ?? ""].join("; ").replaceAll("|", "/").slice(0, 300),
  };
}

function isBackIn(warnings: readonly string[], lastOtherMs: number | null): boolean {
  const isCalm = lastOtherMs === null || performance.now() - lastOtherMs >= CALM_MS;
  return isCalm && warnings.some((line) => line.includes("not in force"));
}

/** Requests begun at their pace whatever the ones before do. */
function startLoad(port: number) {
  const agent = new Agent({ keepAlive: true });
  const failures: string[] = [];
  const from = performance.now();
  let [sent, over] = [0, false];
  let firstNewMs: number | null = null;
  let lastOtherMs: number | null = null;
  const open = new Set<Promise<void>>();
  const once = async (): Promise<void> => {
    const answer = await ask(agent, port);
    if (answer === "old") return;
    const now = performance.now();
    if (answer === "new") firstNewMs ??= now;
    else failures.push(answer);
    lastOtherMs = now;
  };
  const pacing = (async () => {
    while (!over) {
      for (const due = ((performance.now() - from) * REQUESTS_PER_S) / 1_000; sent < due; sent++) {
        const one = once().finally(() => open.delete(one));
        open.add(one);
      }
      await systemClock.sleep(5);
    }
  })();
  return {
    sawNew: () => firstNewMs !== null,
    sinceOtherMs: () => performance.now() - (lastOtherMs ?? from),
    async stop() {
      over = true;
      await pacing;
      await Promise.all(open);
      agent.destroy();
      return { sent, failures, firstNewMs, lastOtherMs };
    },
  };
}

/** What was answered, or how it failed. */
function ask(agent: Agent, port: number): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ host: "127.0.0.1", port, path: "/", agent, timeout: ANSWER_WITHIN_MS }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", () => resolve("broken off"));
      response.on("end", () => resolve(response.statusCode === 200 ? text : `status ${response.statusCode}`));
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer")));
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end();
  });
}
