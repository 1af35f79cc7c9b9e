// Where control groups may be made, and what is written into one. Pure: process/control-groups.ts reads and writes.
// Invariant: owld makes groups only where it has one of its own beside them. In the delegated group itself no process may
// be once groups below it have controllers, so systemd could not start owld there again.

import type { ServiceConfig } from "../../config/config.ts";

export type GroupLimits = NonNullable<ServiceConfig["controlGroup"]>;

/** The group below the delegated one that owld itself is in (DelegateSubgroup= of its unit). */
export const OWN_GROUP = "owld";
export const CONTROLLERS = ["cpu", "memory"] as const;

/** `noVersion2`: the kernel has none here; `notDelegated`: they are not ours to make. */
export type Unfit = "noVersion2" | "notDelegated";

/** The delegated group's path by /proc/self/cgroup. */
export function delegatedGroup(selfCgroup: string): { readonly path: string } | Unfit {
  const own = /^0::(\/.*)$/m.exec(selfCgroup)?.[1];
  if (own === undefined) return "noVersion2";
  const at = own.lastIndexOf("/");
  return at > 0 && own.slice(at + 1) === OWN_GROUP ? { path: own.slice(0, at) } : "notDelegated";
}

/** May its groups have the controllers that are needed? `controllers`: of cgroup.controllers. */
export function hasControllers(controllers: string): boolean {
  const all = controllers.trim().split(/\s+/);
  return CONTROLLERS.every((name) => all.includes(name));
}

/** Files of a group and what is written into each; a bound that is not set is taken off. */
export function groupFiles(limits: GroupLimits): readonly (readonly [file: string, text: string])[] {
  return [
    ["cpu.weight", String(limits.cpuWeight ?? 100)],
    ["memory.max", limits.memoryMaxBytes === undefined ? "max" : String(limits.memoryMaxBytes)],
    ["memory.oom.group", limits.memoryMaxBytes === undefined ? "0" : "1"],
  ];
}
