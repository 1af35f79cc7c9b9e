// Puts processes into control groups of their own, below the one that owld's unit delegates (cgroup v2).
// Invariant: a process that cannot be put there runs on without, and why is told; nothing is touched where nobody has
// limits. All of it is asked for again at each turn, so an adopted process and a group somebody removed come right too.

import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CONTROLLERS,
  delegatedGroup,
  type GroupLimits,
  groupFiles,
  hasControllers,
  OWN_GROUP,
  type Unfit,
} from "../core/control-groups.ts";

/** A process and what bounds it. `id`: names its group. */
export interface Limited {
  readonly id: string;
  readonly pid: number;
  readonly limits: GroupLimits;
}

export interface ControlGroups {
  /** These are in their groups from now on; groups of others that are empty go. Never throws. */
  sync(wanted: readonly Limited[]): void;
  /** Why limits do not hold: a code of the kernel where writing failed. null: they do, or there are none. */
  trouble(): Unfit | { readonly code: string } | null;
}

interface Places {
  /** Where cgroup v2 is mounted. */
  readonly mount: string;
  readonly self: string;
}

const PLACES: Places = { mount: "/sys/fs/cgroup", self: "/proc/self/cgroup" };

/** Where groups may be made, or why they may not. */
export function findGroups(places: Places = PLACES): { readonly root: string } | Unfit {
  try {
    const found = delegatedGroup(readFileSync(places.self, "utf8"));
    if (typeof found === "string") return found;
    const root = join(places.mount, found.path);
    accessSync(join(root, "cgroup.subtree_control"), constants.W_OK);
    return hasControllers(readFileSync(join(root, "cgroup.controllers"), "utf8")) ? { root } : "notDelegated";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "noVersion2" : "notDelegated";
  }
}

export function createControlGroups(places: Places = PLACES): ControlGroups {
  /** Group -> the process and limits it was last given; "" for one found from before. */
  const placed = new Map<string, string>();
  let root: string | null = null;
  let trouble: ReturnType<ControlGroups["trouble"]> = null;

  /** Once: what an earlier owld made is found again. */
  function open(): string | null {
    const found = findGroups(places);
    if (typeof found === "string") {
      trouble = found;
      return null;
    }
    writeFileSync(join(found.root, "cgroup.subtree_control"), CONTROLLERS.map((name) => `+${name}`).join(" "));
    for (const entry of readdirSync(found.root, { withFileTypes: true }))
      if (entry.isDirectory() && entry.name !== OWN_GROUP && !entry.name.startsWith(".")) placed.set(entry.name, "");
    return found.root;
  }

  function place(group: string, { pid, limits }: Limited): void {
    mkdirSync(group, { recursive: true });
    for (const [file, text] of groupFiles(limits)) writeFileSync(join(group, file), text);
    writeFileSync(join(group, "cgroup.procs"), String(pid));
  }

  return {
    sync(wanted) {
      trouble = null;
      if (wanted.length === 0 && placed.size === 0) return;
      try {
        root ??= open();
        if (root === null) return;
        for (const one of wanted) {
          const key = `${one.pid} ${JSON.stringify(one.limits)}`;
          if (placed.get(one.id) === key) continue;
          place(join(root, one.id), one);
          placed.set(one.id, key);
        }
      } catch (error) {
        const { code = "?" } = error as NodeJS.ErrnoException;
        // It ended in between.
        if (code !== "ESRCH") trouble = { code };
      }
      const ids = new Set(wanted.map(({ id }) => id));
      for (const id of placed.keys()) if (!ids.has(id) && root !== null && isRemoved(join(root, id))) placed.delete(id);
    },
    trouble: () => trouble,
  };
}

/** False: somebody is still in it. */
function isRemoved(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
