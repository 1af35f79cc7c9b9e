// A real owld in a home of its own: started, asked over its control socket, killed, started again, cleaned up by pid.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Status } from "../../config/control-api.ts";
import { markOf } from "../../supervisor/instances/launch.ts";
import type { MarkedProcess } from "../../supervisor/ports.ts";
import { createProcessTable } from "../../supervisor/process/group-signal.ts";
import { COMPILED, shareCode } from "./code-cache.ts";
import { poll } from "./poll.ts";
import { steadyPort } from "./steady-port.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

export function program(name: string): string {
  return join(ROOT, "test/support/programs", name);
}

export interface OwldExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface OwldHome {
  readonly home: string;
  readonly port: number;
  readonly configFile: string;
  /** Starts one; `preload` runs in it first; what it says goes to `said`, the home's owld.log otherwise. */
  start(env?: Readonly<Record<string, string>>, preload?: string, said?: string): Owld;
  write(yaml: string): void;
  /** Every process carrying this home's mark. */
  marked(): readonly MarkedProcess[];
  log(): string;
  /** Kills what is left, by pid, and removes the home. */
  cleanUp(): Promise<void>;
}

export interface Owld {
  readonly child: ChildProcess;
  readonly exited: Promise<OwldExit>;
  ask<T>(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: T }>;
  /** The whole answer, one object a line. */
  lines(method: string, path: string, body?: unknown): Promise<readonly unknown[]>;
  /** The whole answer as text. */
  text(path: string): Promise<string>;
  status(): Promise<Status>;
  /** Resolves with the status once it is as asked; fails when owld ends first. */
  until(holds: (status: Status) => boolean): Promise<Status>;
}

/** `yaml` of the services; the proxy's address is added. `home`: an empty directory to be it. */
export async function createOwldHome(
  yaml: string,
  home: string = mkdtempSync(join(tmpdir(), "owl-test-")),
): Promise<OwldHome> {
  const port = await steadyPort();
  const configFile = join(home, "owl.yaml");
  const table = createProcessTable();
  const children: ChildProcess[] = [];
  const logFile = join(home, "owld.log");
  const write = (text: string): void =>
    writeFileSync(configFile, `proxy: {listen: "127.0.0.1:${port}", drainTimeout: 5s}\n${text}`);
  write(yaml);
  if (!existsSync(join(home, "cache/node"))) shareCode(home);
  return {
    home,
    port,
    configFile,
    write,
    start(env = {}, preload, said = logFile) {
      const log = openSync(said, "a");
      const child = spawn(join(ROOT, "supervisor/owld"), ["--config", configFile], {
        env: {
          PATH: process.env.PATH ?? "",
          OWL_HOME: home,
          ...COMPILED,
          ...(preload === undefined ? {} : { NODE_OPTIONS: `--import ${preload}` }),
          ...env,
        },
        stdio: ["ignore", log, log],
      });
      closeSync(log);
      children.push(child);
      const exited = new Promise<OwldExit>((resolve) =>
        child.once("exit", (code, signal) => resolve({ code, signal })),
      );
      return createOwld(child, exited, join(home, "run/control.sock"), () => readFileSync(logFile, "utf8"));
    },
    marked: () => table.marked(markOf(home)),
    log: () => readFileSync(logFile, "utf8"),
    async cleanUp() {
      for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await poll(() => {
        const left = table.marked(markOf(home));
        for (const { identity } of left) table.signalLeader(identity, "SIGKILL");
        return left.length === 0;
      });
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function createOwld(child: ChildProcess, exited: Promise<OwldExit>, socketPath: string, log: () => string): Owld {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> => {
    const { status: code, text: answer } = await raw(method, path, body);
    return { status: code, body: JSON.parse(answer || "null") as T };
  };
  const raw = (method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = text === undefined ? {} : { "content-type": "application/json" };
      const asked = request({ socketPath, method, path, headers }, (response) => {
        let answer = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          answer += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: answer }));
        response.on("error", reject);
      });
      asked.on("error", reject);
      asked.end(text);
    });
  const status = async (): Promise<Status> => (await ask<Status>("GET", "/v1/status")).body;
  return {
    child,
    exited,
    ask,
    async lines(method, path, body) {
      const { text } = await raw(method, path, body);
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as unknown);
    },
    text: async (path) => (await raw("GET", path)).text,
    status,
    async until(holds) {
      let last: Status | null = null;
      await poll(async () => {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`owld ended:\n${log().slice(-3_000)}`);
        last = await status().catch(() => null);
        return last !== null && holds(last);
      });
      if (last === null) throw new Error("no status");
      return last;
    },
  };
}
