// Plain requests, sent once and never repeated: reads, and writes without an Idempotency-Key. Each write has a title of
// its own, so that the list told afterwards shows whether the proxy sent one twice.

import { systemClock } from "../../../config/system-time.ts";
import type { Answer } from "../caller.ts";
import { inLanes, type Load, type LoadContext } from "./load.ts";

export interface PlainRecord {
  readonly title: string | null;
  readonly answer: Answer;
}

export function sendPlain(context: LoadContext, lanes: number): Load<PlainRecord> {
  const records: PlainRecord[] = [];
  const done = inLanes(context, lanes, async (n) => {
    const title = n % 3 === 0 ? `plain-${n}` : null;
    const answer =
      title === null
        ? await context.caller.once("GET", "/api/session")
        : await context.caller.once("POST", "/api/conversations", { body: { title } });
    records.push({ title, answer });
    await systemClock.sleep(context.random.whole(20, 120));
  });
  return { records, done };
}
