// The process table: every signal of the supervisor goes through here.
// Invariant: the identity is read again right before each signal; a recycled number is never signalled.

import { OwlError } from "../../config/errors.ts";
import { INSTANCE_ENV } from "../../config/instance-env.ts";
import type { MarkedProcess, ProcessIdentity, ProcessTable } from "../ports.ts";
import {
  createProcReader,
  identityOf,
  isGone,
  isSame,
  ownership,
  type ProcReader,
  type ProcStat,
} from "./proc-identity.ts";

type SendSignal = (pid: number, signal: NodeJS.Signals) => void;

/** The table over this machine's /proc. `send` is process.kill (another one in tests). */
export function createProcessTable(
  reader: ProcReader = createProcReader(),
  send: SendSignal = (pid, signal) => process.kill(pid, signal),
): ProcessTable {
  const living = (identity: ProcessIdentity): boolean => {
    const stat = reader.stat(identity.pid);
    return stat !== null && !isGone(stat) && isSame(reader, stat, identity);
  };

  const everyone = (): ProcStat[] =>
    reader.pids().flatMap((pid) => {
      const stat = reader.stat(pid);
      return stat === null || isGone(stat) ? [] : [stat];
    });

  const members = (identity: ProcessIdentity, among: () => readonly ProcStat[] = everyone): ProcStat[] => {
    if (identity.bootId !== reader.bootId) return [];
    const leader = reader.stat(identity.pid);
    // The kernel gives no number away while a group of that number lives: another process here means ours is empty.
    if (leader !== null && !isSame(reader, leader, identity)) return [];
    const found = among().filter((stat) => stat.group === identity.pid);
    if (leader === null && !leftByUs(identity, found)) return [];
    return found;
  };

  // The leader is gone and reaped: is the group of that number still the one it led? Ours are sessions of their own.
  const leftByUs = (identity: ProcessIdentity, found: readonly ProcStat[]): boolean =>
    found.every((stat) => stat.session === identity.pid && BigInt(stat.startTicks) >= BigInt(identity.startTicks)) &&
    found.some((stat) => ownership(reader, stat.pid) !== "foreign");

  const trySend = (target: number, signal: NodeJS.Signals): "sent" | "gone" => {
    try {
      send(target, signal);
      return "sent";
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ESRCH") return "gone";
      throw new OwlError("signal.refused", `${signal} to process ${target} was refused: ${code ?? String(error)}.`, {
        next: "The daemon needs the right to signal its services: run it as root or with CAP_KILL.",
        data: { pid: target, signal },
        cause: error,
      });
    }
  };

  return {
    identify(pid) {
      const stat = reader.stat(pid);
      return stat === null || isGone(stat) ? null : identityOf(reader, stat);
    },
    isAlive: living,
    signalLeader(identity, signal) {
      return living(identity) ? trySend(identity.pid, signal) : "gone";
    },
    killGroup(identity) {
      return members(identity).length > 0 ? trySend(-identity.pid, "SIGKILL") : "gone";
    },
    groupMembers(identity) {
      return members(identity).map(({ pid }) => ({ pid, command: reader.command(pid) }));
    },
    groups(identities) {
      const all = everyone();
      return identities.map((identity) =>
        members(identity, () => all).map(({ pid }) => ({ pid, command: reader.command(pid) })),
      );
    },
    marked(mark) {
      const found: MarkedProcess[] = [];
      for (const pid of reader.pids()) {
        const variables = reader.environment(pid);
        if (variables?.get(INSTANCE_ENV.mark) !== mark) continue;
        const stat = reader.stat(pid);
        if (stat === null || isGone(stat)) continue;
        found.push({
          identity: identityOf(reader, stat),
          instance: variables.get(INSTANCE_ENV.instance) ?? "",
          service: variables.get(INSTANCE_ENV.service) ?? "",
          release: variables.get(INSTANCE_ENV.release) ?? "",
          leader: stat.group === pid,
          command: reader.command(pid),
        });
      }
      return found;
    },
  };
}
