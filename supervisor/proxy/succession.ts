// Starting our successor: it inherits the listening descriptors, gets our table over its own feed, and only then accepts.
// Invariant: until it has acknowledged the table, we go on as if nothing had happened.

import { spawn } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { connect } from "node:net";
import { OwlError } from "../../config/errors.ts";
import { INSTANCE_ENV } from "../../config/instance-env.ts";
import type { FromProxy, ProxySettings, RoutingTable, ToProxy } from "../../config/proxy-feed.ts";
import type { Clock } from "../../config/time.ts";
import { readLines } from "./table-feed.ts";

/** How long the successor may take from its start to the acknowledgement. */
const SUCCESSION_MS = 15_000;
const CONNECT_AGAIN_MS = 20;

interface SuccessionRequest {
  readonly settings: ProxySettings;
  readonly command: readonly string[];
  /** FIFO whose write end becomes the successor's descriptor 3: its end of file tells owld of the exit. */
  readonly exitFifo: string | null;
  /** Our listening descriptors, in order of its addresses; null: it binds that one itself. */
  readonly descriptors: readonly (number | null)[];
  readonly table: RoutingTable | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

interface Successor {
  readonly pid: number;
  kill(): void;
}

/** Resolves once the successor accepts with our table. Throws OwlError `proxy.succession`. */
export async function startSuccessor(request: SuccessionRequest): Promise<Successor> {
  const { settings, command, descriptors, env, clock } = request;
  const [program, ...args] = command;
  if (program === undefined) throw new OwlError("proxy.succession", "The successor's command is empty.");
  const fifo = request.exitFifo === null ? null : openSync(request.exitFifo, constants.O_RDWR | constants.O_NONBLOCK);
  const inherited = descriptors.filter((fd) => fd !== null);
  const child = spawn(program, args, {
    detached: true,
    stdio: ["ignore", "inherit", "inherit", fifo ?? "ignore", ...inherited],
    env: {
      ...env,
      [INSTANCE_ENV.instance]: settings.id,
      OWL_PROXY_SETTINGS: JSON.stringify(settings),
      OWL_PROXY_LISTEN_FDS: descriptors.map((fd) => (fd === null ? "" : 4 + inherited.indexOf(fd))).join(","),
      OWL_PROXY_AWAIT_TABLE: "1",
    },
  });
  if (fifo !== null) closeSync(fifo);
  const giveUp = new AbortController();
  const cancelTimer = clock.after(SUCCESSION_MS, () =>
    giveUp.abort(new OwlError("proxy.succession", `The successor took longer than ${SUCCESSION_MS} ms.`)),
  );
  child.once("error", (cause) =>
    giveUp.abort(new OwlError("proxy.succession", `The successor did not start: ${cause.message}.`, { cause })),
  );
  child.once("exit", (code, signal) =>
    giveUp.abort(new OwlError("proxy.succession", `The successor ended at once (${signal ?? code}).`)),
  );
  try {
    await handOver(settings.feedSocket, request.table, clock, giveUp.signal);
    child.unref();
    return { pid: child.pid ?? 0, kill: () => void child.kill("SIGKILL") };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    cancelTimer();
  }
}

/** What holds our listening sockets beside us; null: it did not start. */
export function startKeeper(
  [program = "", ...args]: readonly string[],
  descriptors: readonly number[],
  env: Readonly<Record<string, string | undefined>>,
): number | null {
  // Without our mark: it is no instance, and ends by itself.
  const options = { detached: true, env: { PATH: env.PATH } } as const;
  const child = spawn(program, args, { ...options, stdio: [...Array<"ignore">(4).fill("ignore"), ...descriptors] });
  child.on("error", () => undefined);
  child.unref();
  return child.pid ?? null;
}

/** Sends the table to the successor's feed and waits until it accepts with it. */
async function handOver(path: string, table: RoutingTable | null, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (signal.aborted) throw signal.reason;
    if (await tryHandOver(path, table, signal)) return;
    await clock.sleep(CONNECT_AGAIN_MS, signal);
  }
}

function tryHandOver(path: string, table: RoutingTable | null, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const done = (over: boolean) => {
      signal.removeEventListener("abort", abandon);
      socket.destroy();
      resolve(over);
    };
    const abandon = () => done(false);
    signal.addEventListener("abort", abandon);
    socket.on("error", () => done(false));
    socket.on("close", () => done(false));
    readLines(socket, (line) => {
      const message = JSON.parse(line) as FromProxy;
      if (message.type === "hello") {
        const empty: RoutingTable = { version: 0, routes: [] };
        const send: ToProxy = { type: "table", table: table ?? empty };
        socket.write(`${JSON.stringify(send)}\n`);
      } else if (message.type === "ack") {
        done(true);
      }
    });
  });
}
