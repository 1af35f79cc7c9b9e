// The listening sockets systemd opened for us (owl.socket): descriptors 3 and up, with the addresses they are bound to.
// Invariant: the variables are gone from the environment afterwards; descriptors meant for another process are not taken.

import { readFileSync, readlinkSync } from "node:fs";

/** systemd hands them over from here on. */
const FIRST = 3;

interface InheritedListener {
  readonly fd: number;
  /** FileDescriptorName= of the socket unit. */
  readonly name: string;
  /** What it is bound to; null for anything but TCP. */
  readonly address: { readonly host: string; readonly port: number } | null;
}

/** Reads LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES and removes them from `env`. Empty without socket activation. */
export function takeListenFds(
  env: Record<string, string | undefined>,
  pid: number,
  addressOf: (fd: number) => InheritedListener["address"] = boundAddress,
): readonly InheritedListener[] {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES } = env;
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete env[name];
  const count = Number(LISTEN_FDS);
  if (LISTEN_PID !== String(pid) || !Number.isInteger(count) || count < 1) return [];
  const names = (LISTEN_FDNAMES ?? "").split(":");
  return Array.from({ length: count }, (_, index) => {
    const fd = FIRST + index;
    return { fd, name: names[index] || "unknown", address: addressOf(fd) };
  });
}

/**
 * The descriptor for each wanted address, in that order. An inherited `0.0.0.0` or `::` serves any host of its port.
 * `missing`: addresses of the configuration that owl.socket does not open; `extra`: what it opens beyond them.
 */
export function matchListeners(
  wanted: readonly { readonly host: string; readonly port: number }[],
  inherited: readonly InheritedListener[],
): {
  readonly descriptors: readonly (number | null)[];
  readonly missing: readonly { readonly host: string; readonly port: number }[];
  readonly extra: readonly InheritedListener[];
} {
  const left = [...inherited];
  const descriptors = wanted.map(({ host, port }) => {
    const exact = left.findIndex(({ address }) => address?.port === port && sameHost(address.host, host));
    const index = exact >= 0 ? exact : left.findIndex(({ address }) => address?.port === port && isAny(address.host));
    return index < 0 ? null : (left.splice(index, 1)[0]?.fd ?? null);
  });
  return { descriptors, missing: wanted.filter((_, index) => descriptors[index] === null), extra: left };
}

function isAny(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function sameHost(a: string, b: string): boolean {
  return a === (b === "localhost" ? "127.0.0.1" : b);
}

/** The address a TCP socket of this process is bound to, from /proc; null when it is none. */
export function boundAddress(fd: number): { host: string; port: number } | null {
  try {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1];
    if (inode === undefined) return null;
    for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
      for (const line of readFileSync(table, "utf8").split("\n").slice(1)) {
        const fields = line.trim().split(/\s+/);
        if (fields[9] === inode) return parseProcAddress(fields[1] ?? "");
      }
    }
  } catch {
    // Not a descriptor of ours.
  }
  return null;
}

/** `0100007F:1F90` (or its IPv6 form) as host and port; null when it is neither. */
export function parseProcAddress(text: string): { host: string; port: number } | null {
  const [hex = "", portHex = ""] = text.split(":");
  const port = Number.parseInt(portHex, 16);
  if (!/^([0-9A-F]{8}|[0-9A-F]{32})$/i.test(hex) || Number.isNaN(port)) return null;
  // The kernel prints words of four bytes in the machine's order (little-endian on all we run on).
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16)),
  );
  if (bytes.length === 4) return { host: bytes.join("."), port };
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  const host = URL.parse(`http://[${groups.join(":")}]`)?.hostname.slice(1, -1) ?? groups.join(":");
  return { host, port };
}
