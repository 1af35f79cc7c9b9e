// Memory and CPU of the instances' process groups, read from /proc in one pass; the host's from there too, or else by
// systeminformation.
// Invariant: a group is counted only while its leader is the very process the identity names.

import { readFileSync } from "node:fs";
import type { Clock } from "../../config/time.ts";
import type { ProcessIdentity, Usage, UsageSampler } from "../ports.ts";
import { createProcReader, isGone, isSame, type ProcReader } from "./proc-identity.ts";

const AT_PAGESZ = 6;
const AT_CLKTCK = 17;

interface Ticks {
  readonly startTicks: string;
  readonly ticks: number;
}

/** Page size in bytes and clock ticks per second, from the kernel's auxiliary vector. */
export function readUnits(auxv: Buffer = readFileSync("/proc/self/auxv")): { pageBytes: number; ticksPerS: number } {
  const found = new Map<bigint, bigint>();
  for (let at = 0; at + 16 <= auxv.length; at += 16) found.set(auxv.readBigUInt64LE(at), auxv.readBigUInt64LE(at + 8));
  return {
    pageBytes: Number(found.get(BigInt(AT_PAGESZ)) ?? 4_096n),
    ticksPerS: Number(found.get(BigInt(AT_CLKTCK)) ?? 100n),
  };
}

function groupKey(identity: ProcessIdentity | undefined): string {
  return `${identity?.pid} ${identity?.startTicks}`;
}

export function createUsageSampler(clock: Clock, reader: ProcReader = createProcReader()): UsageSampler {
  const { pageBytes, ticksPerS } = readUnits();
  let lastTicks = new Map<number, Ticks>();
  let lastGroups = new Set<string>();
  let lastMs: number | null = null;

  return {
    async sample(identities) {
      const groups = new Map<number, ProcessIdentity>();
      for (const identity of identities) {
        const leader = reader.stat(identity.pid);
        if (leader !== null && !isGone(leader) && isSame(reader, leader, identity)) groups.set(identity.pid, identity);
      }
      const now = clock.monotonicMs();
      const elapsedS = lastMs === null ? 0 : (now - lastMs) / 1_000;
      const ticks = new Map<number, Ticks>();
      const sums = new Map<number, { rssBytes: number; ticks: number }>();
      for (const pid of groups.size === 0 ? [] : reader.pids()) {
        const stat = reader.stat(pid);
        if (stat === null || isGone(stat) || !groups.has(stat.group)) continue;
        const used = stat.userTicks + stat.systemTicks;
        const before = lastTicks.get(pid);
        ticks.set(pid, { startTicks: stat.startTicks, ticks: used });
        const sum = sums.get(stat.group) ?? { rssBytes: 0, ticks: 0 };
        sum.rssBytes += stat.rssPages * pageBytes;
        // A member that was not there at the last sample has used all of its time since then; a whole group that was
        // not (just adopted) may have used it long ago.
        if (before?.startTicks === stat.startTicks) sum.ticks += used - before.ticks;
        else if (lastGroups.has(groupKey(groups.get(stat.group)))) sum.ticks += used;
        sums.set(stat.group, sum);
      }
      lastTicks = ticks;
      lastGroups = new Set([...groups.values()].map(groupKey));
      lastMs = now;
      const usages = new Map<number, Usage>();
      for (const pid of groups.keys()) {
        const sum = sums.get(pid) ?? { rssBytes: 0, ticks: 0 };
        const cpu = elapsedS <= 0 ? 0 : Math.max(0, sum.ticks / ticksPerS / elapsedS);
        usages.set(pid, { rssBytes: sum.rssBytes, cpu: Math.round(cpu * 1_000) / 1_000 });
      }
      return usages;
    },
    async hostMemory() {
      const text = readFileSync("/proc/meminfo", "utf8");
      const bytes = (name: string): number =>
        Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, "m").exec(text)?.[1]) * 1_024;
      const [availableBytes, totalBytes] = [bytes("MemAvailable"), bytes("MemTotal")];
      if (Number.isFinite(availableBytes) && Number.isFinite(totalBytes)) return { availableBytes, totalBytes };
      // Loaded only where the kernel does not tell: it takes 10 MiB of owld's memory.
      const { mem } = await import("systeminformation");
      const { available, total } = await mem();
      return { availableBytes: available, totalBytes: total };
    },
  };
}
