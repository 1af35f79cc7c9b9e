// The records of all instances, the proxy's too: the one place they are changed, and the one place that tells of it.
// Invariant: the state file is written before anything else hears of a change; `state` changes by `move` alone, which
// writes into the journal from what to what, by which event and why. A refused move says why it was none.

import type { Logger } from "pino";
import type { InstanceState } from "../../config/control-api.ts";
import { INSTANCE_MOVES, type Instance, type InstanceEvent, PROXY } from "../core/instance.ts";
import { type Move, move } from "../core/machine.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { Store } from "../state/store.ts";

export type Changes = Partial<Omit<Instance, "id" | "service" | "number" | "state">>;
type Data = Readonly<Record<string, unknown>>;

/** Name of the event that tells of a state reached. */
const TOLD_AS: Readonly<Record<InstanceState, string>> = {
  starting: "instance.starting",
  ready: "instance.ready",
  unhealthy: "instance.unhealthy",
  backoff: "instance.crashed",
  draining: "instance.draining",
  stopping: "instance.killing",
  exited: "instance.stopped",
};

export interface InstanceBook {
  /** Services' instances and proxies, by number. */
  all(): readonly Instance[];
  /** Services' instances alone. */
  services(): readonly Instance[];
  get(id: string): Instance | null;
  /** A new record. `type`: how it came, unless by a start. */
  add(instance: Instance, why: string, type?: string): void;
  /** Changes fields; null when the record is gone. */
  set(id: string, changes: Changes): Instance | null;
  /** Moves the state by an event, with what changes along, and tells why. */
  move(id: string, event: InstanceEvent, why: string, changes?: Changes, data?: Data): Move<InstanceState>;
  /** Tells of what is no change of state. */
  note(instance: Pick<Instance, "id" | "service">, type: string, message: string, data?: Data): void;
  remove(id: string): void;
}

/** What records of older ones lack. */
const ABSENT_BEFORE = { replaceFromMs: null, aside: false, crashedMs: [], looping: false } as const;

interface InstanceBookParts {
  readonly store: Store;
  readonly journal: Journal;
  readonly log: Pick<Logger, "debug">;
  /** Called after every change. */
  readonly changed: () => void;
}

export function createInstanceBook({ store, journal, log, changed }: InstanceBookParts): InstanceBook {
  const records = new Map<string, Instance>();
  let listed: readonly Instance[] | null = null;
  for (const instance of store.all<Instance>("instance").values())
    records.set(instance.id, { ...ABSENT_BEFORE, ...instance });
  for (const kept of store.all<Instance & { readonly state?: InstanceState }>("proxy").values()) {
    // Kept by an owld that knew less of its proxies: they carry its mark and are adopted by that.
    if (kept.state === undefined) store.remove("proxy", kept.id);
    else records.set(kept.id, kept);
  }

  function put(instance: Instance): void {
    if (instance.service !== PROXY) store.put("instance", instance.id, instance);
    // In its own table, and as an older owld reads it: after a rollback that one adopts it.
    else if (instance.identity !== null)
      store.put("proxy", instance.id, { ...instance, draining: instance.wanted === "down" });
    records.set(instance.id, instance);
    listed = null;
    changed();
  }

  function note({ id, service }: Pick<Instance, "id" | "service">, type: string, message: string, data?: Data): void {
    journal.write({ type, service, instance: id, message, ...(data === undefined ? {} : { data }) });
  }

  const all = (): readonly Instance[] => {
    listed ??= [...records.values()].toSorted((a, b) => a.number - b.number);
    return listed;
  };

  return {
    all,
    services: () => all().filter(({ service }) => service !== PROXY),
    get: (id) => records.get(id) ?? null,
    add(instance, why, type = TOLD_AS[instance.state]) {
      put(instance);
      note(instance, type, why, { from: null, to: instance.state });
    },
    set(id, changes) {
      const found = records.get(id);
      if (found === undefined) return null;
      put({ ...found, ...changes });
      return records.get(id) ?? null;
    },
    move(id, event, why, changes = {}, data = {}) {
      const found = records.get(id);
      if (found === undefined) return { moved: false, reason: `${id} is on no record` };
      const moved = move(INSTANCE_MOVES, found.state, event);
      if (!moved.moved) {
        log.debug({ instance: id, event }, moved.reason);
        return moved;
      }
      const { from, to } = moved;
      const type = to === "exited" && found.wasKilled ? "instance.killed" : TOLD_AS[to];
      store.atomically(() => {
        put({ ...found, ...changes, state: to });
        note(found, type, why, { from, to, event, ...data });
      });
      return moved;
    },
    note,
    remove(id) {
      const found = records.get(id);
      if (found === undefined) return;
      records.delete(id);
      store.remove(found.service === PROXY ? "proxy" : "instance", id);
      listed = null;
      changed();
    },
  };
}
