// The records of all instances: the one place they are changed.
// Invariant: the state file is written before anything else hears of a change; `state` changes by moveInstance alone.

import { type Instance, type InstanceEvent, moveInstance } from "../core/instance.ts";
import type { Store } from "../state/store.ts";

type Changes = Partial<Omit<Instance, "id" | "service" | "number" | "state">>;

export interface InstanceBook {
  all(): readonly Instance[];
  get(id: string): Instance | null;
  add(instance: Instance): void;
  /** Changes fields; null when the record is gone. */
  set(id: string, changes: Changes): Instance | null;
  /** Moves the state by an event, with what changes along; null when the event means nothing to it. */
  move(id: string, event: InstanceEvent, changes?: Changes): Instance | null;
  remove(id: string): void;
}

/** What records of older ones lack. */
const ABSENT_BEFORE = { replaceFromMs: null, aside: false, crashedMs: [], looping: false } as const;

/** `changed` is called after every change. */
export function createInstanceBook(store: Store, changed: () => void): InstanceBook {
  const records = new Map<string, Instance>();
  for (const instance of store.all<Instance>("instance").values()) {
    records.set(instance.id, { ...ABSENT_BEFORE, ...instance });
  }
  let listed: readonly Instance[] | null = null;

  function put(instance: Instance): Instance {
    store.put("instance", instance.id, instance);
    records.set(instance.id, instance);
    listed = null;
    changed();
    return instance;
  }

  return {
    all() {
      listed ??= [...records.values()].toSorted((a, b) => a.number - b.number);
      return listed;
    },
    get: (id) => records.get(id) ?? null,
    add: (instance) => void put(instance),
    set(id, changes) {
      const found = records.get(id);
      return found === undefined ? null : put({ ...found, ...changes });
    },
    move(id, event, changes = {}) {
      const found = records.get(id);
      const moved = found === undefined ? null : moveInstance(found, event);
      return moved === null ? null : put({ ...moved, ...changes });
    },
    remove(id) {
      if (!records.delete(id)) return;
      store.remove("instance", id);
      listed = null;
      changed();
    },
  };
}
