// The product as a user has it: `npm start` in a home of its own, `owlctl`, and nothing else. Started again when the
// supervisor is gone, as systemd (or a person) would.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Status } from "../../config/control-api.ts";
import { systemClock } from "../../config/system-time.ts";
import { freeLoopbackPort } from "./outside/listen-on-loopback.ts";
import type { SeededRandom } from "./plan/seeded-random.ts";
import { isAlive, processesOf, signalPid } from "./processes.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
export const PASSWORD = "correct horse battery";

export interface Product {
  readonly home: string;
  readonly port: number;
  start(): void;
  /** Starts it again whenever `npm start` has ended, a moment later, as systemd would; until `ending`. */
  keepUp(random: SeededRandom, ending: AbortSignal): Promise<void>;
  ctl(...args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  /** What owld says, or null when it does not within `timeoutMs`. */
  status(timeoutMs?: number): Promise<Status | null>;
  /** Sessions with the database that one instance of each service may hold, as owld was configured. */
  declared(): Promise<Readonly<Record<string, number>>>;
  log(): string;
  /**
   * An orderly stop; resolves with what is left behind. Then everything of the home is ended and removed, unless `keep`;
   * its logs are put before into the folder that `logsTo` names, if any.
   */
  stop(keep: boolean, logsTo?: (left: readonly string[]) => string | null): Promise<readonly string[]>;
}

export interface ProductWanted {
  /** The code that is started, where it is not this checkout. */
  readonly root?: string | null;
  /** Text of owl.yaml below `proxy.listen`, given the home. */
  readonly yaml: (home: string) => string;
  /** Before the first start: a mount, for one. Resolves with what `npm start` finds in its environment besides. */
  readonly prepare?: (home: string) => Promise<Readonly<Record<string, string>>>;
  readonly release?: (home: string) => Promise<void>;
}

export async function createProduct(wanted: ProductWanted): Promise<Product> {
  const home = await mkdtemp(join(tmpdir(), "owl-chaos-"));
  await chmod(home, 0o755);
  const port = await freeLoopbackPort();
  const config = join(home, "owl.yaml");
  await mkdir(join(home, "state"));
  await writeFile(config, `proxy: {listen: "127.0.0.1:${port}"}\n${wanted.yaml(home)}`);
  const more = await wanted.prepare?.(home);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    OWL_HOME: home,
    OWL_CONFIG: config,
    OWL_ADMIN_PASSWORD: PASSWORD,
    OWL_LANG: "en",
    CI: "1",
  };
  delete env.OWL_CONTROL_SOCKET;
  delete env.OWL_PORT;
  let child: ChildProcess | null = null;
  let ended = true;
  const read = <T>(path: string, timeoutMs: number) => readControl<T>(join(home, "run/control.sock"), path, timeoutMs);

  const product: Product = {
    home,
    port,
    start() {
      const log = openSync(join(home, "start.log"), "a");
      ended = false;
      const mine = spawn("npm", ["start"], {
        cwd: wanted.root ?? ROOT,
        env: { ...env, ...more },
        stdio: ["ignore", log, log],
        detached: true,
      });
      closeSync(log);
      child = mine;
      mine.once("exit", () => {
        if (child === mine) ended = true;
      });
    },
    async keepUp(random, ending) {
      while (!ending.aborted) {
        await systemClock.sleep(200);
        if (!ended || ending.aborted) continue;
        await systemClock.sleep(random.whole(100, 3_000));
        if (!ending.aborted && !processesOf(home).some((one) => one.kind === "supervisor")) product.start();
      }
    },
    ctl: (...args) =>
      new Promise((resolve) => {
        const options = { env, maxBuffer: 2 ** 26, cwd: ROOT };
        execFile(join(ROOT, "ctl/owlctl"), args, options, (error, stdout, stderr) => {
          resolve({ code: error ? (typeof error.code === "number" ? error.code : 128) : 0, stdout, stderr });
        });
      }),
    status: (timeoutMs = 3_000) => read<Status>("/v1/status", timeoutMs),
    async declared() {
      const told = await read<ConfigTold>("/v1/config", 10_000);
      return Object.fromEntries((told?.config.services ?? []).map(({ name, connections }) => [name, connections]));
    },
    log: () => readFileSync(join(home, "start.log"), "utf8"),
    async stop(keep, logsTo = () => null) {
      for (const one of processesOf(home)) if (one.state === "T") signalPid(one.pid, "SIGCONT");
      const supervisor = processesOf(home).find((one) => one.kind === "supervisor");
      if (supervisor !== undefined) {
        signalPid(supervisor.pid, "SIGTERM");
        for (let look = 0; look < 600 && isAlive(supervisor.pid); look++) await systemClock.sleep(100);
      }
      // npm itself goes a moment after owld.
      for (let look = 0; look < 50 && processesOf(home).length > 0; look++) await systemClock.sleep(100);
      const left = processesOf(home);
      for (const one of left) signalPid(one.pid, one.kind === "postmaster" ? "SIGQUIT" : "SIGKILL");
      await systemClock.sleep(left.length > 0 ? 1_000 : 0);
      const told = left.map((one) => `${one.pid} ${one.command}`);
      const logs = logsTo(told);
      if (logs !== null) await copyLogs(home, logs);
      if (keep) return told;
      await wanted.release?.(home);
      await rm(home, { recursive: true, force: true });
      return told;
    },
  };
  return product;
}

async function copyLogs(home: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const part of ["start.log", "logs", "state/owl.sqlite"])
    await cp(join(home, part), join(to, basename(part)), { recursive: true }).catch(() => undefined);
}

interface ConfigTold {
  readonly config: { readonly services: readonly { readonly name: string; readonly connections: number }[] };
}

/** What owld answers on its control socket; null when it does not within `timeoutMs`. */
function readControl<T>(socketPath: string, path: string, timeoutMs: number): Promise<T | null> {
  return new Promise((resolve) => {
    const sent = request({ socketPath, path, timeout: timeoutMs, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", () => resolve(null));
      response.on("end", () => {
        try {
          resolve(response.statusCode === 200 ? (JSON.parse(text) as T) : null);
        } catch {
          resolve(null);
        }
      });
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve(null));
    sent.end();
  });
}
