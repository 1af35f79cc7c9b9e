// Listening sockets that owld holds without accepting from them, so that a crashed proxy process is respawned with
// the very same socket and its clients wait in the backlog instead of being refused.
// Invariant: nothing in owld ever accepts. Node's listen() also starts accepting on its event loop; so a worker
// thread listens and then blocks its own loop for good. The descriptor's number is found in /proc: no Node internals.

import { lookup } from "node:dns/promises";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { ListenAddress } from "../../config/config.ts";
import { OwlError } from "../../config/errors.ts";

const BACKLOG = 4_096;

export interface HeldListeners {
  /** Descriptors of this process, in the order of the addresses. */
  readonly descriptors: readonly number[];
  /** Closes them in this process; those inherited by proxies stay. */
  close(): Promise<void>;
}

const LISTEN = `
const { createServer } = require("node:net");
const { parentPort, workerData } = require("node:worker_threads");
const bound = [];
const next = () => {
  const address = workerData.addresses[bound.length];
  if (address === undefined) {
    parentPort.postMessage({ bound });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    return;
  }
  const server = createServer();
  server.once("error", (error) => parentPort.postMessage({ failed: address, code: error.code }));
  server.listen({ ...address, backlog: workerData.backlog }, () => { bound.push(server.address()); next(); });
};
next();
`;

interface BoundAddress {
  readonly address: string;
  readonly port: number;
  readonly family: string;
}

type Answer = { readonly bound: readonly BoundAddress[] } | { readonly failed: ListenAddress; readonly code: string };

/** Binds and listens on all of them, or on none. Throws `listen.taken`, `listen.denied` or `listen.failed`. */
export async function holdListeners(addresses: readonly ListenAddress[]): Promise<HeldListeners> {
  // Names are looked up here: a lookup in the thread would give its event loop a turn, and with it an accept.
  const resolved = await Promise.all(addresses.map(resolveAddress));
  const worker = new Worker(LISTEN, {
    eval: true,
    workerData: { addresses: resolved, backlog: BACKLOG },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 1, stackSizeMb: 1 },
  });
  const answer = await new Promise<Answer>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  worker.unref();
  const close = async (): Promise<void> => {
    await worker.terminate();
  };
  if ("failed" in answer) {
    await close();
    throw listenFailure(answer.failed, answer.code);
  }
  try {
    return { descriptors: answer.bound.map(findDescriptor), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function resolveAddress({ host, port }: ListenAddress): Promise<ListenAddress> {
  try {
    return { host: (await lookup(host)).address, port };
  } catch (error) {
    throw listenFailure({ host, port }, (error as NodeJS.ErrnoException).code ?? String(error));
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
