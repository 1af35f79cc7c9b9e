// What could not be written yet. Invariant: bounded whatever happens meanwhile. Of a document only that it differs is
// kept (its newest form is in memory); of events the newest, and how many were let go is told.

export type Write =
  | { readonly kind: "document"; readonly table: string; readonly key: string | number }
  | { readonly kind: "forget"; readonly rollout: string }
  | {
      readonly kind: "event";
      readonly table: "event" | "rollout_event";
      readonly id: number;
      readonly rollout: string;
      readonly doc: string;
    };

type Event = Extract<Write, { kind: "event" }>;

const MOST_EVENTS = 5_000;

interface WaitingWrites {
  add(write: Write): void;
  /** In an order in which they may be written. */
  all(): readonly Write[];
  /** Events still to come, of that table. */
  events(table: Event["table"]): readonly Event[];
  /** Events let go since this was asked last. */
  takeDropped(): number;
  clear(): void;
}

export function createWaitingWrites(most = MOST_EVENTS): WaitingWrites {
  const documents = new Map<string, Write>();
  const forgotten = new Map<string, Write>();
  const events = new Map<string, Event>();
  let dropped = 0;
  return {
    add(write) {
      if (write.kind === "document") documents.set(`${write.table} ${write.key}`, write);
      else if (write.kind === "forget") {
        forgotten.set(write.rollout, write);
        for (const [key, one] of events) if (one.rollout === write.rollout) events.delete(key);
      } else {
        events.set(`${write.table} ${write.id}`, write);
        const [oldest] = events.keys();
        if (events.size <= most || oldest === undefined) return;
        events.delete(oldest);
        dropped++;
      }
    },
    all: () => [...documents.values(), ...forgotten.values(), ...events.values()],
    events: (table) => [...events.values()].filter((one) => one.table === table),
    takeDropped() {
      const count = dropped;
      dropped = 0;
      return count;
    },
    clear() {
      for (const part of [documents, forgotten, events]) part.clear();
    },
  };
}
