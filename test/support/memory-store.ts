// The supervisor's record on a disk of paper: what was written is there for the next store opened on the same disk.

import type { Store } from "../../supervisor/state/store.ts";

/** What a state file would hold, each document as its text. */
export interface PaperDisk {
  readonly documents: Map<string, Map<string | number, string>>;
  readonly counters: Map<string, number>;
  readonly appended: Map<string, Map<number, { readonly rollout: string; readonly text: string }>>;
}

export function createPaperDisk(): PaperDisk {
  return { documents: new Map(), counters: new Map(), appended: new Map() };
}

/** `touch` is called before each write, and before several that are written together. */
export function openMemoryStore(disk: PaperDisk, touch: () => void): Store {
  let together = false;
  const write = (): void => {
    if (!together) touch();
  };
  const part = <V>(of: Map<string, V>, name: string, empty: V): V => {
    const found = of.get(name) ?? empty;
    of.set(name, found);
    return found;
  };
  const documents = (table: string) => part(disk.documents, table, new Map<string | number, string>());
  const rows = (table: string) =>
    part(disk.appended, table, new Map<number, { readonly rollout: string; readonly text: string }>());
  return {
    all: <T>(table: string) => new Map([...documents(table)].map(([key, text]) => [key, JSON.parse(text) as T])),
    put(table, key, doc) {
      write();
      documents(table).set(key, JSON.stringify(doc));
    },
    remove(table, key) {
      write();
      documents(table).delete(key);
    },
    next(counter) {
      write();
      const value = (disk.counters.get(counter) ?? 0) + 1;
      disk.counters.set(counter, value);
      return value;
    },
    given: (counter) => disk.counters.get(counter) ?? 0,
    raise(counter, atLeast) {
      write();
      disk.counters.set(counter, Math.max(disk.counters.get(counter) ?? 0, atLeast));
    },
    append(table, id, doc, rollout) {
      write();
      rows(table).set(id, { rollout: rollout ?? "", text: JSON.stringify(doc) });
    },
    removeEvents(rollout) {
      write();
      const events = rows("rollout_event");
      for (const [id, event] of events) if (event.rollout === rollout) events.delete(id);
    },
    read: <T>(table: string, filter: { readonly rollout?: string } = {}) =>
      [...rows(table).values()]
        .filter(({ rollout }) => filter.rollout === undefined || filter.rollout === rollout)
        .map(({ text }) => JSON.parse(text) as T),
    lastId: (table) => Math.max(0, ...rows(table).keys()),
    // A kill in its middle leaves nothing of it: the same as one before it.
    atomically(run) {
      if (together) return run();
      write();
      together = true;
      try {
        run();
      } finally {
        together = false;
      }
    },
    sync: () => undefined,
    failing: () => null,
    retry: () => true,
    takeDropped: () => 0,
    close: () => undefined,
  };
}
