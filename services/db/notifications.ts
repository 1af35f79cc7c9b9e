// Notifications sent beside the transaction they tell of, once it is committed. A commit that notifies holds a lock of
// the whole server until it is on disk, so that such commits wait in line for one another's disk writes; a statement
// that only notifies writes nothing and holds it for microseconds.
// Invariant: nothing depends on a notification arriving: who waits for one also looks after a while, and at a reconnect.

import type { Clock } from "../../config/time.ts";
import type { Channel } from "./listen.ts";

/** What it is sent through. */
interface Sender {
  query(text: string, values: readonly unknown[]): Promise<unknown>;
}

interface Notifications {
  /** Sends it soon, together with others; the same one is sent once. */
  note(channel: Channel, payload: string): void;
  /** Resolves when what was noted is sent or given up. */
  sent(): Promise<void>;
}

const TRIES = 3;
/** The first one goes out at once; after it, one statement at most this often, however many turns stream. */
const EVERY_MS = 15;

export function createNotifications(
  sql: Sender,
  clock: Pick<Clock, "sleep"> | undefined,
  onError: (error: Error) => void,
): Notifications {
  let waiting = new Map<string, readonly [Channel, string]>();
  let sending: Promise<void> | null = null;

  async function sendAll(): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting.values()];
      waiting = new Map();
      const values = [batch.map(([channel]) => channel), batch.map(([, payload]) => payload)];
      for (let left = TRIES; left > 0; left--) {
        try {
          await sql.query(
            "SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) n(channel, payload)",
            [...values],
          );
          break;
        } catch (error) {
          // A cut connection is replaced at the next try; a database that is away cuts its listeners' too.
          if (left === 1) onError(error as Error);
        }
      }
      await clock?.sleep(EVERY_MS);
    }
  }

  return {
    note(channel, payload) {
      waiting.set(`${channel}:${payload}`, [channel, payload]);
      sending ??= sendAll().finally(() => {
        sending = null;
      });
    },
    async sent() {
      await sending;
    },
  };
}
