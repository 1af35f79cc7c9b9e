// Listening sockets that owld holds without accepting from them, so that a crashed proxy process is respawned with
// the very same socket and its clients wait in the backlog instead of being refused.
// Invariant: nothing in owld ever accepts. Node's listen() also starts accepting on its event loop; so a worker
// thread listens and then blocks its own loop. It is woken to close the socket itself, before its loop turns once:
// a thread that is only terminated accepts what is in the backlog on its way out, and resets it (measured: a client
// in every second round). The descriptor's number is found in /proc: no Node internals.

import { lookup } from "node:dns/promises";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { ListenAddress } from "../../config/config.ts";
import { OwlError } from "../../config/errors.ts";

const BACKLOG = 4_096;

export interface HeldListener {
  /** Its descriptor in this process, to be inherited by proxies. */
  readonly descriptor: number;
  /** Closes it in this process; where it was inherited it stays. */
  close(): Promise<void>;
}

/** How long an exiting process waits for the thread's close; a thread that is blocked answers within microseconds. */
const CLOSE_MS = 1_000;
/** Places in the memory shared with the thread. */
const ASKED = 0;
const CLOSED = 1;

const LISTEN = `
const { createServer } = require("node:net");
const { parentPort, workerData } = require("node:worker_threads");
const { shared, ...options } = workerData;
const server = createServer();
server.once("error", (error) => parentPort.postMessage({ failed: error.code }));
server.listen(options, () => {
  parentPort.postMessage({ bound: server.address() });
  Atomics.wait(shared, ${ASKED}, 0);
  server.close();
  Atomics.store(shared, ${CLOSED}, 1);
  Atomics.notify(shared, ${CLOSED});
});
`;

interface BoundAddress {
  readonly address: string;
  readonly port: number;
  readonly family: string;
}

type Answer = { readonly bound: BoundAddress } | { readonly failed: string };

/** Binds and listens. Throws `listen.taken`, `listen.denied` or `listen.failed`. */
export async function holdListener(address: ListenAddress): Promise<HeldListener> {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(LISTEN, {
    eval: true,
    workerData: { host: await resolveHost(address), port: address.port, backlog: BACKLOG, shared },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 1, stackSizeMb: 1 },
  });
  const ask = (): void => {
    Atomics.store(shared, ASKED, 1);
    Atomics.notify(shared, ASKED);
  };
  // An exit without a close before it, or in the middle of one, terminates the thread, as above.
  const atExit = (): void => {
    ask();
    Atomics.wait(shared, CLOSED, 0, CLOSE_MS);
  };
  const close = async (): Promise<void> => {
    ask();
    const closed = Atomics.waitAsync(shared, CLOSED, 0, CLOSE_MS);
    if (closed.async) await closed.value;
    process.off("exit", atExit);
    await worker.terminate();
  };
  try {
    const answer = await new Promise<Answer>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    if ("failed" in answer) throw listenFailure(address, answer.failed);
    worker.unref();
    const descriptor = findDescriptor(answer.bound);
    process.on("exit", atExit);
    return { descriptor, close };
  } catch (error) {
    await worker.terminate();
    throw error;
  }
}

async function resolveHost(address: ListenAddress): Promise<string> {
  try {
    return (await lookup(address.host)).address;
  } catch (error) {
    throw listenFailure(address, (error as NodeJS.ErrnoException).code ?? String(error));
  }
}

/** Our descriptor of the socket that listens on this very address. */
function findDescriptor(bound: BoundAddress): number {
  const local = `${kernelHex(bound)}:${bound.port.toString(16).toUpperCase().padStart(4, "0")}`;
  const table = readFileSync(bound.family === "IPv6" ? "/proc/self/net/tcp6" : "/proc/self/net/tcp", "utf8");
  const row = table.split("\n").find((line) => line.includes(` ${local} `) && / 0A /.test(line));
  const inode = row?.trim().split(/\s+/)[9];
  for (const name of readdirSync("/proc/self/fd")) {
    if (linkOf(name) === `socket:[${inode}]`) return Number(name);
  }
  throw new OwlError("listen.failed", `The socket of ${bound.address}:${bound.port} was not found in /proc.`);
}

function linkOf(fd: string): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return null;
  }
}

/** The address as /proc/net/tcp prints it: words of 32 bits, each in this machine's (little-endian) order. */
export function kernelHex(bound: Pick<BoundAddress, "address" | "family">): string {
  const bytes = bound.family === "IPv6" ? ipv6Bytes(bound.address) : bound.address.split(".").map(Number);
  let text = "";
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.slice(at, at + 4).reverse();
    text += word.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join("");
  }
  return text;
}

function ipv6Bytes(address: string): number[] {
  // URL writes every spelling the same way, dotted ends included. A zone (%eth0) is no part of the address.
  const plain = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const groups = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return all.flatMap((group) => [group >> 8, group & 0xff]);
}

function listenFailure({ host, port }: ListenAddress, code: string): OwlError {
  const where = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const data = { host, port, code };
  if (code === "EADDRINUSE") {
    return new OwlError("listen.taken", `Another program listens on ${where}.`, {
      next: `See which one: ss -ltnp 'sport = :${port}'. Or choose another port: OWL_PORT, or proxy.listen in owl.yaml.`,
      data,
    });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new OwlError("listen.denied", `This user may not listen on ${where}.`, {
      next: "Choose a port from 1024 up (OWL_PORT), or use owl.socket of `owlctl install`.",
      data,
    });
  }
  return new OwlError("listen.failed", `Listening on ${where} failed: ${code}.`, {
    next: "Check proxy.listen in owl.yaml: the address must be one of this machine's.",
    data,
  });
}
