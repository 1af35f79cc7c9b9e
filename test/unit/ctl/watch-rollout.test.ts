// Watching a rollout while owld is away: it is waited for, and not for ever.

import { expect, test } from "vitest";
import { OwlError } from "../../../config/errors.ts";
import type { ControlClient } from "../../../ctl/client.ts";
import { type RolloutView, watchRollout } from "../../../ctl/watch-rollout.ts";
import { createTestClock } from "../../support/test-clock.ts";

test("an owld that does not come back within five minutes ends the watching with what to do next", async () => {
  const clock = createTestClock();
  const away = () => new OwlError("daemon.unreachable", "owld is not there");
  const client = {
    get: async () => Promise.reject(away()),
    // biome-ignore lint/correctness/useYield: a stream that breaks at once.
    async *lines() {
      throw away();
    },
  } as unknown as ControlClient;
  const nothing = () => undefined;
  const view: RolloutView = { event: nothing, progress: nothing, gone: nothing, back: nothing, close: nothing };
  const { signal } = new AbortController();
  let ended: unknown = null;
  const watching = watchRollout({ client, clock, id: "r-1", view, until: "drained", timeoutMs: null, signal }).catch(
    (error: unknown) => {
      ended = error;
    },
  );
  await clock.advance(299_000);
  expect(ended).toBeNull();
  await clock.advance(2_000);
  await watching;
  expect(ended).toMatchObject({ code: "watch.away", data: { rollout: "r-1", minutes: 5 } });
});
