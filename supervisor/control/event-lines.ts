// The event rows a client asked for: those of the past, then, with `follow`, those to come, none twice, none missing.

import type { EventsQuery, OwlEvent } from "../../config/control-api.ts";
import type { Journal } from "../rollouts/journal.ts";

const PAST = 100;

export function eventStream(journal: Journal, query: EventsQuery, signal: AbortSignal): AsyncIterable<OwlEvent> {
  const own = new AbortController();
  // Listening begins before the past is read: what happens in between comes by both ways and is told apart by its id.
  const live = journal.feed.listen(AbortSignal.any([signal, own.signal]));
  const matches = (event: OwlEvent): boolean =>
    (query.service === null || event.service === query.service) &&
    (query.instance === null || event.instance === query.instance);
  const filtered = query.service !== null || query.instance !== null;
  const limit = query.limit ?? (query.afterId === null ? PAST : null);
  const past = journal
    .read(filtered || query.afterId !== null ? null : limit)
    .filter((event) => matches(event) && event.id > (query.afterId ?? 0));
  const kept = limit === null ? past : past.slice(past.length - Math.min(limit, past.length));
  const last = past.at(-1)?.id ?? query.afterId ?? 0;
  return (async function* () {
    try {
      yield* kept;
      if (!query.follow) return;
      for await (const event of live) if (event.id > last && matches(event)) yield event;
    } finally {
      own.abort();
    }
  })();
}
