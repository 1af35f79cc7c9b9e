import { expect, test } from "vitest";
import { nextOrder, type OrderRecord, renewAtMs, withOrder } from "../../../../supervisor/core/renewal.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const nowMs = Date.parse("2026-11-30T00:00:00Z");
const order = (agoMs: number, outcome: OrderRecord["outcome"], subject = "ours", jitter = 0): OrderRecord => ({
  subject,
  at: nowMs - agoMs,
  outcome,
  jitter,
});
const next = (orders: readonly OrderRecord[], held: Parameters<typeof nextOrder>[0]["held"] = null) => {
  const { atMs, failures } = nextOrder({ subject: "ours", held, orders, nowMs });
  return { inMs: atMs - nowMs, failures };
};
const days90 = { fromMs: nowMs - 30 * DAY, untilMs: nowMs + 60 * DAY, fits: true };

test("the first one is ordered at once, and so is one for other names or by another authority", () => {
  expect(next([]).inMs).toBeLessThanOrEqual(0);
  expect(next([], { ...days90, fits: false }).inMs).toBeLessThanOrEqual(0);
});

test("a certificate is renewed when a third of its life is left, spread over a tenth of that", () => {
  expect(next([], days90).inMs).toBe(30 * DAY);
  expect(renewAtMs(days90, 0.999) - nowMs).toBeLessThan(33 * DAY);
  expect(renewAtMs(days90, 0.999) - nowMs).toBeGreaterThan(32 * DAY);
  expect(next([order(30 * DAY, "issued", "ours", 0.5)], days90).inMs).toBeCloseTo(31.5 * DAY, -3);
});

test.each([
  [1, 5 * MINUTE],
  [2, 10 * MINUTE],
  [3, 20 * MINUTE],
  [8, 640 * MINUTE],
  [9, 720 * MINUTE],
  [30, 720 * MINUTE],
])("after %i failures in a row it waits %i ms", (count, pauseMs) => {
  const failed = Array.from({ length: count }, (_, n) => order((count - n - 1) * 2 * DAY, "failed"));
  expect(next(failed)).toEqual({ inMs: pauseMs, failures: count });
});

test("one whose end was not seen counts as failed, and chance makes a pause longer only", () => {
  expect(next([order(0, "begun", "ours", 1)])).toEqual({ inMs: 6.25 * MINUTE, failures: 1 });
});

test("a certificate that came makes the failures before it forgotten", () => {
  expect(next([order(9 * DAY, "failed"), order(8 * DAY, "issued")], days90).failures).toBe(0);
});

test("an authority gets at most 4 orders an hour, whatever the names and however often they change", () => {
  const others = [50, 40, 30, 20].map((minutes, n) => order(minutes * MINUTE, "failed", `other ${n}`));
  expect(next(others)).toEqual({ inMs: 10 * MINUTE, failures: 0 });
});

test("nor more than 4 certificates a week for the same names, though each was lost", () => {
  const issued = [6, 5, 4, 3].map((days) => order(days * DAY, "issued"));
  expect(next(issued).inMs).toBe(DAY);
});

test("a clock that was set back holds nothing up for long", () => {
  expect(next([order(-400 * DAY, "failed")])).toEqual({ inMs: 5 * MINUTE, failures: 1 });
});

test("an order's end replaces its beginning, and only so many are kept", () => {
  const begun = order(0, "begun");
  expect(withOrder([order(DAY, "issued"), begun], { ...begun, outcome: "failed" })).toHaveLength(2);
  const many = Array.from({ length: 100 }, (_, n) => order(n, "failed")).reduce(
    withOrder,
    [] as readonly OrderRecord[],
  );
  expect(many).toHaveLength(60);
});
