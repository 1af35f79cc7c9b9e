import { expect, test } from "vitest";
import { answerParts } from "../../../../services/web/pages/core/answer-parts.ts";
import { chartOf } from "../../../../services/web/pages/core/chart.ts";
import { aheadOf } from "../../../../services/web/pages/core/server-clock.ts";
import { applyTurnEvent, type TurnFacts, viewOfTurn } from "../../../../services/web/pages/core/turn-view.ts";

const TURN: TurnFacts = {
  id: "t",
  conversationId: "c",
  state: "running",
  text: "q",
  answer: null,
  message: null,
  position: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  endedAt: null,
};

const shown = (answer: string, tools: TurnFacts["tools"]): readonly string[] =>
  answerParts(answer, viewOfTurn({ ...TURN, answer, tools }).tools).map((part) =>
    part.kind === "text" ? part.text : `<${part.tool.id}>`,
  );

test("a tool stands where it was called", () => {
  const tools = [
    { id: "a", name: "run_sql", state: "done", at: 0 },
    { id: "b", name: "run_sql", state: "done", at: 9 },
    { id: "c", name: "run_sql", state: "done", at: 9 },
  ];
  expect(shown("First 가. Then.", tools)).toEqual(["<a>", "First 가. ", "<b>", "<c>", "Then."]);
});

test("a tool of an older turn stands above the text, one behind a text that was taken back at its end", () => {
  expect(shown("text", [{ id: "a", name: "x", state: "done" }])).toEqual(["<a>", "text"]);
  expect(shown("text", [{ id: "a", name: "x", state: "done", at: 99 }])).toEqual(["text", "<a>"]);
  expect(shown("  ", [{ id: "a", name: "x", state: "done", at: 1 }])).toEqual(["<a>"]);
});

test("a tool that is told live stands behind what was said by then, and stays there", () => {
  let turn = viewOfTurn(TURN);
  const events = [
    { seq: 1, kind: "delta", data: { text: "one " } },
    { seq: 2, kind: "tool", data: { id: "a", name: "x", state: "running" } },
    { seq: 3, kind: "delta", data: { text: "two" } },
    { seq: 4, kind: "tool", data: { id: "a", name: "x", state: "done" } },
  ] as const;
  for (const event of events) {
    const applied = applyTurnEvent(turn, event);
    if (applied.kind === "applied") turn = applied.turn;
  }
  expect(turn.tools[0]?.at).toBe(4);
});

test("the server's clock is taken from its answers, and small differences are none", () => {
  const serverMs = Date.UTC(2026, 0, 1, 12, 0, 0);
  const header = new Date(serverMs).toUTCString();
  expect(aheadOf(header, serverMs - 3 * 3_600_000, serverMs - 3 * 3_600_000 + 100)).toBe(3 * 3_600_000 + 450);
  expect(aheadOf(header, serverMs - 300, serverMs + 900)).toBe(0);
  expect(aheadOf(header, serverMs - 30_000, serverMs + 10_000)).toBe(0);
  expect(aheadOf(null, 0, 1)).toBeNull();
});

test("rows become a chart: figures by the first column that holds none", () => {
  const chart = chartOf(
    ["year", "region", "sum"],
    [
      ["2024", "서울", "1,200"],
      ["2025", "부산", "3.5"],
    ],
  );
  expect(chart).toMatchObject({
    by: "region",
    labels: ["서울", "부산"],
    times: null,
    series: [{ name: "year" }, { name: "sum", values: [1200, 3.5] }],
  });
});

test("days in their order are a line over time", () => {
  const chart = chartOf(
    ["day", "n"],
    [
      ["2026-01-01", "1"],
      ["2026-01-03", ""],
    ],
  );
  expect(chart?.times).toEqual([Date.UTC(2026, 0, 1) / 1000, Date.UTC(2026, 0, 3) / 1000]);
  expect(chart?.series[0]?.values).toEqual([1, null]);
});

test.each([
  ["one row", ["a", "b"], [["x", "1"]]],
  [
    "no figures",
    ["a", "b"],
    [
      ["x", "y"],
      ["z", "w"],
    ],
  ],
  ["nothing to tell them apart by", ["a"], [["1"], ["2"]]],
] as const)("there is no chart of %s", (_what, head, rows) => {
  expect(chartOf(head, rows)).toBeNull();
});
