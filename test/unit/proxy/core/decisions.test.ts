// The proxy's pure decisions: routes, balance, marks, THE retry table, spreading of endings, WebSocket frame ends.

import { describe, expect, test } from "vitest";
import { pickIndex } from "../../../../supervisor/proxy/core/balance.ts";
import { believedChain } from "../../../../supervisor/proxy/core/forwarding.ts";
import {
  exhausted,
  mayReuseConnection,
  RETRY_TABLE,
  retryRowFor,
} from "../../../../supervisor/proxy/core/retry-table.ts";
import { hostName, matchRoute, pathOf } from "../../../../supervisor/proxy/core/route-match.ts";
import { spreadDelays } from "../../../../supervisor/proxy/core/stream-spread.ts";
import { isMarked, type Mark, markFailure } from "../../../../supervisor/proxy/core/upstream-marks.ts";
import { closeFrame, FrameTracker } from "../../../../supervisor/proxy/core/websocket-frames.ts";
import { createTrust } from "../../../../supervisor/proxy/trust.ts";

describe("routes", () => {
  const routes = [
    { host: "*", path: "/" },
    { host: "*", path: "/api" },
    { host: "team.example", path: "/" },
    { host: "*.team.example", path: "/" },
    { host: "*.b.team.example", path: "/x/" },
  ];
  test.each([
    ["other", "/", 0],
    ["other", "/api", 1],
    ["other", "/api/x", 1],
    ["other", "/apix", 0],
    ["team.example", "/api", 2],
    ["a.team.example", "/", 3],
    ["a.b.team.example", "/x/1", 4],
    ["a.b.team.example", "/x", 3],
  ])("%s%s is served by route %i", (host, path, index) => {
    expect(matchRoute(routes, host, path)).toBe(routes[index]);
  });

  test("nothing fits: null", () => {
    expect(matchRoute([{ host: "a", path: "/b" }], "a", "/c")).toBeNull();
  });

  test("host names lose port, case and the last dot; targets lose query and scheme", () => {
    expect([hostName("Team.Example.:81"), hostName("[::1]:80"), hostName("x")]).toEqual(["team.example", "[::1]", "x"]);
    expect([pathOf("/a?b"), pathOf("http://x/a?b"), pathOf("http://x"), pathOf("*")]).toEqual(["/a", "/a", "/", "*"]);
  });
});

describe("balance", () => {
  const upstream = (inFlight: number, mark: Mark | null = null) => ({ inFlight, mark });
  test("the least in flight is taken, ties go on from the last pick", () => {
    expect(pickIndex([upstream(2), upstream(1), upstream(1)], null, 0, 0)).toBe(1);
    expect(pickIndex([upstream(1), upstream(1), upstream(1)], null, 2, 0)).toBe(2);
  });
  test("marked ones come last, and still come when no other is left", () => {
    const marked = upstream(0, { failures: 1, untilMs: 100 });
    const busy = upstream(50);
    expect(pickIndex([marked, busy], null, 0, 50)).toBe(1);
    expect(pickIndex([marked, busy], [busy], 0, 50)).toBe(0);
    expect(pickIndex([marked, busy], null, 0, 150)).toBe(0);
    expect(pickIndex([marked], null, 0, 50)).toBe(0);
    expect(pickIndex([marked], [marked], 0, 50)).toBe(-1);
    expect(pickIndex([], null, 0, 50)).toBe(-1);
  });
});

test("a mark lasts 1 s, doubles, and never grows beyond 10 s", () => {
  let mark: Mark | null = null;
  const lengths: number[] = [];
  for (let n = 0; n < 8; n++) {
    mark = markFailure(mark, 1_000);
    lengths.push(mark.untilMs - 1_000);
  }
  expect(lengths).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 10_000]);
  expect([isMarked(mark, 10_999), isMarked(mark, 11_000), isMarked(null, 0)]).toEqual([true, false, false]);
});

describe("THE retry table", () => {
  const stages = ["connecting", "sent", "answering"] as const;
  const both = [true, false];
  const all = stages.flatMap((stage) =>
    both.flatMap((reusedConnection) =>
      both.flatMap((repeatable) =>
        both.flatMap((resent) =>
          both.flatMap((responseBytes) =>
            both.map((onTrial) => ({ stage, reusedConnection, repeatable, resent, responseBytes, onTrial })),
          ),
        ),
      ),
    ),
  );

  test("only a failure to connect goes to another upstream, whatever the request", () => {
    for (const attempt of all) {
      expect(retryRowFor(attempt).does === "tryNext").toBe(attempt.stage === "connecting");
    }
  });

  test("after a byte may have been sent it is sent again once: when it may be repeated, in exactly two cases", () => {
    const once = { stage: "sent", repeatable: true, resent: false };
    const fresh = all.filter((attempt) => retryRowFor(attempt).does === "resendFresh");
    expect(fresh).toEqual([{ ...once, reusedConnection: true, responseBytes: false, onTrial: false }]);
    const old = all.filter((attempt) => retryRowFor(attempt).does === "askOld");
    expect(old).toHaveLength(4);
    for (const attempt of old) expect(attempt).toMatchObject({ ...once, onTrial: true });
  });

  test("a failure after sending is refused, one after the answer began cuts", () => {
    for (const attempt of all) {
      const { does } = retryRowFor(attempt);
      if (attempt.stage === "answering") expect(does).toBe("cut");
      if (attempt.stage === "sent") expect(["refuse", "resendFresh", "askOld"]).toContain(does);
    }
  });

  test("every row has a reason of its own", () => {
    expect(new Set(RETRY_TABLE.map(({ reason }) => reason)).size).toBe(RETRY_TABLE.length);
  });

  test("504 only when every upstream timed out", () => {
    expect(exhausted(["timedOut", "timedOut"])).toBe("allTimedOut");
    expect(exhausted(["timedOut", "refused"])).toBe("allRefused");
    expect(exhausted(["refused"])).toBe("allRefused");
  });

  test("only GET, HEAD and OPTIONS go on a reused connection", () => {
    const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "get"];
    expect(methods.filter(mayReuseConnection)).toEqual(["GET", "HEAD", "OPTIONS"]);
  });
});

test("endings are spread at 200 a second, over 5 s at most", () => {
  expect(spreadDelays(0)).toEqual([]);
  expect(spreadDelays(1)).toEqual([0]);
  expect(spreadDelays(200).at(-1)).toBe(995);
  const many = spreadDelays(10_000);
  expect(many.at(-1)).toBeLessThan(5_000);
  expect(many.at(-1)).toBeGreaterThan(4_900);
});

test("a WebSocket frame's end is found wherever the bytes are cut", () => {
  const frame = (length: number, masked: boolean) => {
    const size =
      length < 126
        ? [length]
        : length < 65_536
          ? [126, length >> 8, length & 255]
          : [127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255];
    size[0] = (size[0] ?? 0) | (masked ? 128 : 0);
    return [0x82, ...size, ...(masked ? [1, 2, 3, 4] : []), ...new Array<number>(length).fill(7)];
  };
  for (const [length, masked] of [
    [0, false],
    [5, true],
    [200, false],
    [70_000, true],
  ] as const) {
    const bytes = Uint8Array.from([...frame(length, masked), ...frame(1, false)]);
    for (const cut of [1, 2, 3, 7, 11, bytes.length - 4]) {
      const tracker = new FrameTracker();
      if (cut >= bytes.length - 3) continue;
      tracker.push(bytes.subarray(0, Math.min(cut, bytes.length - 3)));
      if (cut < bytes.length - 3) expect(tracker.atBoundary).toBe(false);
      const end = tracker.endsWithin(bytes.subarray(cut));
      expect(cut + end).toBe(bytes.length - 3);
    }
  }
  expect([...closeFrame(1012, false)]).toEqual([0x88, 2, 3, 0xf4]);
  expect([...closeFrame(1012, true)]).toEqual([0x88, 0x82, 0, 0, 0, 0, 3, 0xf4]);
});

describe("X-Forwarded-For of a trusted proxy", () => {
  const isTrusted = createTrust(["10.0.0.0/8", "::1"]);

  test.each([
    ["6.6.6.6, 192.0.2.7", "192.0.2.7"],
    ["6.6.6.6, 192.0.2.7, 10.1.1.1", "192.0.2.7, 10.1.1.1"],
    ["6.6.6.6, 192.0.2.7, 10.1.1.1:4711, [::1]:80", "192.0.2.7, 10.1.1.1:4711, [::1]:80"],
    ["10.1.1.1, 10.1.1.2", "10.1.1.1, 10.1.1.2"],
    ["6.6.6.6, unknown", "unknown"],
    ["192.0.2.7", "192.0.2.7"],
  ])("%s is believed as %s: from the last address on that is not trusted", (chain, believed) => {
    expect(believedChain(chain, isTrusted)).toBe(believed);
  });
});
