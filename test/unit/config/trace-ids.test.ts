// Which trace a request belongs to, and who decides whether it is told.

import { expect, test } from "vitest";
import { isTold, proxySpanOf, traceOf, traceparentOf, webSpanOf } from "../../../config/trace-ids.ts";

const ID = "0af76519-16cd-43dd-8448-eb211c80319c";

test("a request's id is its trace, and names the spans of proxy and web", () => {
  const trace = traceOf(ID) ?? "";
  expect(trace).toBe("0af7651916cd43dd8448eb211c80319c");
  expect([proxySpanOf(trace), webSpanOf(trace)]).toEqual(["0af7651916cd43dd", "8448eb211c80319c"]);
  expect(traceparentOf(trace, webSpanOf(trace))).toBe(`00-${trace}-8448eb211c80319c-01`);
});

test.each([
  null,
  "",
  "theirs-7",
  `${ID}0`,
  "00000000-0000-0000-8448-eb211c80319c",
  "0af76519-16cd-43dd-0000-000000000000",
])("%s is none", (id) => expect(traceOf(id)).toBeNull());

test("a share of all traces is told, each by everybody or nobody", () => {
  expect([isTold("ffffffff", 1), isTold("00000000", 0)]).toEqual([true, false]);
  const traces = Array.from({ length: 4_096 }, (_, n) => n.toString(16).padStart(3, "0").padEnd(32, "5"));
  expect(traces.filter((trace) => isTold(trace, 0.25)).length).toBe(1_024);
});
