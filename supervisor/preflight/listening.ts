// Who listens on a TCP port, from /proc: nothing is bound to find out.

import { readdir, readFile, readlink } from "node:fs/promises";
import type { ListenAddress } from "../../config/config.ts";
import { INSTANCE_ENV } from "../../config/instance-env.ts";
import type { PreflightFacts } from "../core/preflight.ts";
import { parseProcAddress } from "../systemd/listen-fds.ts";

const LISTEN = "0A";

type PortFact = PreflightFacts["ports"][number];

/**
 * The state of each address. `own`: processes whose listening sockets are Owl's; `mark`: OWL_MARK of this home, which a
 * proxy that was started a moment ago has as well; `inherited`: systemd holds it for us.
 */
export async function portFacts(
  addresses: readonly ListenAddress[],
  own: ReadonlySet<number>,
  mark: string,
  inherited: readonly ListenAddress[] = [],
): Promise<readonly PortFact[]> {
  const listeners = await readListeners();
  const lowest = Number(await readText("/proc/sys/net/ipv4/ip_unprivileged_port_start")) || 1024;
  return Promise.all(
    addresses.map(async (address): Promise<PortFact> => {
      const name = `${address.host}:${address.port}`;
      if (listeners === null) return { address: name, state: "unknown", holder: null };
      const inode = listeners.find((one) => one.port === address.port && overlap(one.host, address.host))?.inode;
      if (inode === undefined) {
        const denied = address.port < lowest && !(await mayBindLow());
        return { address: name, state: denied ? "denied" : "free", holder: null };
      }
      if (inherited.some((one) => one.port === address.port)) return { address: name, state: "ours", holder: null };
      // Ours first: a socket of systemd's is held by process 1 too, and looking at all others is slow.
      if (await holderOf(inode, [...own].map(String))) return { address: name, state: "ours", holder: null };
      const holder = await holderOf(inode, await readdir("/proc"));
      if (holder !== null && (await isMarked(holder.pid, mark))) return { address: name, state: "ours", holder: null };
      return { address: name, state: "taken", holder: holder ? `${holder.command} (pid ${holder.pid})` : null };
    }),
  );
}

async function readListeners(): Promise<readonly { host: string; port: number; inode: string }[] | null> {
  const tables = await Promise.all([readText("/proc/net/tcp"), readText("/proc/net/tcp6")]);
  if (tables[0] === "") return null;
  return tables
    .flatMap((table) => table.split("\n").slice(1))
    .flatMap((row) => {
      const fields = row.trim().split(/\s+/);
      const address = fields[3] === LISTEN ? parseProcAddress(fields[1] ?? "") : null;
      return address ? [{ ...address, inode: fields[9] ?? "" }] : [];
    });
}

function overlap(bound: string, wanted: string): boolean {
  const any = (host: string) => host === "0.0.0.0" || host === "::";
  return any(bound) || any(wanted) || bound === (wanted === "localhost" ? "127.0.0.1" : wanted);
}

async function holderOf(inode: string, pids: readonly string[]): Promise<{ pid: number; command: string } | null> {
  for (const pid of pids) {
    if (!/^\d+$/.test(pid)) continue;
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
      if (target === `socket:[${inode}]`) {
        return { pid: Number(pid), command: (await readText(`/proc/${pid}/comm`)).trim() };
      }
    }
  }
  return null;
}

async function isMarked(pid: number, mark: string): Promise<boolean> {
  return (await readText(`/proc/${pid}/environ`)).split("\0").includes(`${INSTANCE_ENV.mark}=${mark}`);
}

const CAP_NET_BIND_SERVICE = 10n;

async function mayBindLow(): Promise<boolean> {
  const held = /^CapEff:\s*([0-9a-f]+)$/m.exec(await readText("/proc/self/status"))?.[1];
  return held !== undefined && ((BigInt(`0x${held}`) >> CAP_NET_BIND_SERVICE) & 1n) === 1n;
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}
