import { expect, test } from "vitest";
import type { ProxyRoute } from "../../../config/proxy-feed.ts";
import { Counters } from "../../../supervisor/proxy/counters.ts";
import { type Attempting, Dispatch } from "../../../supervisor/proxy/dispatch.ts";
import { createLog } from "../../../supervisor/proxy/log.ts";
import { Upstreams } from "../../../supervisor/proxy/upstreams.ts";
import { createTestClock } from "../../support/test-clock.ts";

/** A request to `web`, whose instances of those names refuse connections. `asked`: of whom, in order, and the end. */
function requestWhile(refusing: readonly string[]) {
  const clock = createTestClock();
  const upstreams = new Upstreams(clock);
  const asked: string[] = [];
  const table = (ids: readonly string[]) => {
    const route: ProxyRoute = {
      service: "web",
      host: "*",
      path: "/",
      closed: null,
      bodyBytes: null,
      upstreams: ids.map((id) => ({ id, target: { socket: `/${id}` } })),
    };
    upstreams.apply({ version: 1, routes: [route] });
  };
  table(refusing);
  const engine: Attempting = {
    attempt(upstream) {
      asked.push(upstream.id);
      if (refusing.includes(upstream.id)) dispatch.connectFailed("refused", "it is gone");
    },
    answer: (reason) => void asked.push(reason),
    giveUp: () => undefined,
    cut: () => undefined,
  };
  const deps = {
    upstreams,
    counters: new Counters(),
    clock,
    log: createLog(clock, "proxy-1", () => undefined),
    queueTimeoutMs: 5_000,
    bodyBytes: 1_000,
  };
  const facts = { method: "POST", host: "x", path: "/", bodyBytes: 2, requestId: "r" };
  const dispatch: Dispatch = new Dispatch(deps, facts, engine);
  dispatch.start();
  return { asked, clock, table };
}

test("when every instance has ended just now, a request waits for the word of it, and for the next one", async () => {
  const { asked, clock, table } = requestWhile(["a", "b"]);
  expect(asked).toEqual(["a", "b"]);
  await clock.advance(100);
  table([]);
  await clock.advance(4_000);
  table(["c"]);
  expect(asked).toEqual(["a", "b", "c"]);
});

test("without such a word it is refused soon; told of none, it waits no longer than any other", async () => {
  const silent = requestWhile(["a"]);
  await silent.clock.advance(299);
  expect(silent.asked).toEqual(["a"]);
  await silent.clock.advance(1);
  expect(silent.asked).toEqual(["a", "allRefused"]);
  const told = requestWhile(["a"]);
  told.table([]);
  await told.clock.advance(5_000);
  expect(told.asked).toEqual(["a", "noneReady"]);
});
