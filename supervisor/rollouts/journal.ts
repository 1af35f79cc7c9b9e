// Every change of state as an event row: stored, logged, told to whoever follows.
// Invariant: an event is written before anybody hears of it.

import type { Logger } from "pino";
import type { OwlEvent } from "../../config/control-api.ts";
import { type Clock, isoTime } from "../../config/time.ts";
import type { Store } from "../state/store.ts";
import { createFeed, type Feed } from "./feed.ts";

interface EventFacts {
  readonly type: string;
  readonly message: string;
  readonly service?: string | null;
  readonly instance?: string | null;
  readonly rollout?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface Journal {
  write(facts: EventFacts): OwlEvent;
  /** The newest `limit` (all that are kept when null), oldest first. */
  read(limit: number | null): readonly OwlEvent[];
  readonly feed: Feed<OwlEvent>;
}

const LOUD = /\.(crashed|crashLooping|failed|killed|leftOver|hung|overMemory|unhealthy|dropped)$/;

export function createJournal(store: Store, clock: Clock, log: Logger): Journal {
  const feed = createFeed<OwlEvent>();
  return {
    write(facts) {
      const event: OwlEvent = {
        id: store.lastId("event") + 1,
        at: isoTime(clock.now()),
        type: facts.type,
        service: facts.service ?? null,
        instance: facts.instance ?? null,
        rollout: facts.rollout ?? null,
        message: facts.message,
        ...(facts.data === undefined ? {} : { data: facts.data }),
      };
      store.append("event", event.id, event);
      const { id: _id, at: _at, message, ...fields } = event;
      if (LOUD.test(event.type)) log.warn(fields, message);
      else log.info(fields, message);
      feed.publish(event);
      return event;
    },
    read: (limit) => store.read<OwlEvent>("event", limit === null ? {} : { limit }),
    feed,
  };
}
