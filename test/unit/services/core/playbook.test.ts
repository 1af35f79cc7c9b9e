import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkPlaybook, fillReferences, shownStepState } from "../../../../services/core/playbook.ts";

const sql = (id: string, text = "SELECT 1") => ({ id, tool: "sql", input: { dataSource: "demo", sql: text } });

describe("checking a playbook", () => {
  test("finds nothing in a good one", () => {
    const steps = [sql("a"), sql("b", "SELECT ${steps.a.output.rows[0].n}")];
    expect(checkPlaybook({ name: "good", steps })).toEqual([]);
  });

  test.each([
    ["no object", [], null, ""],
    ["no name", { steps: [sql("a")] }, null, "name"],
    ["no steps", { name: "x", steps: [] }, null, "steps"],
    ["a step that is none", { name: "x", steps: [7] }, "#1", ""],
    ["a bad id", { name: "x", steps: [sql("1 a")] }, "#1", "id"],
    ["an id twice", { name: "x", steps: [sql("a"), sql("a")] }, "a", "id"],
    ["an unknown tool", { name: "x", steps: [{ id: "a", tool: "sh", input: {} }] }, "a", "tool"],
    ["another key", { name: "x", steps: [{ ...sql("a"), when: 1 }] }, "a", "when"],
    ["a missing input", { name: "x", steps: [{ id: "a", tool: "sql", input: { sql: "x" } }] }, "a", "input.dataSource"],
    ["a later step", { name: "x", steps: [sql("a", "${steps.b.output}"), sql("b")] }, "a", "input.sql"],
    ["itself", { name: "x", steps: [sql("a", "${steps.a.output}")] }, "a", "input.sql"],
    ["no reference", { name: "x", steps: [sql("a", "${env.HOME}")] }, "a", "input.sql"],
  ])("names step and field: %s", (_what, playbook, step, field) => {
    expect(checkPlaybook(playbook)).toEqual([expect.objectContaining({ step, field })]);
  });

  test("bounds what is read in an input, and how much is told of it", () => {
    expect(checkPlaybook({ name: "x", steps: [sql("a", "x".repeat(100_001))] })).toEqual([
      expect.objectContaining({ step: "a", field: "input" }),
    ]);
    let deep: unknown = 1;
    for (let level = 0; level < 5_000; level++) deep = [deep];
    const http = { id: "a", tool: "http", input: { url: "https://example.com/", body: deep } };
    expect(checkPlaybook({ name: "x", steps: [http] })).toEqual([expect.objectContaining({ field: "input" })]);
    expect(checkPlaybook({ name: "x", steps: [sql("a", "${}".repeat(30_000))] })).toHaveLength(100);
  });

  test("a mark that is never closed is no reference", () => {
    expect(checkPlaybook({ name: "x", steps: [sql("a", "${".repeat(40_000))] })).toEqual([]);
  });

  test("never throws, whatever was sent", () => {
    fc.assert(fc.property(fc.jsonValue(), (sent) => void checkPlaybook(sent)));
    const nearly = fc.record({
      name: fc.string(),
      steps: fc.array(
        fc.record({ id: fc.string(), tool: fc.constantFrom("sql", "http", "mail", "ticket"), input: fc.jsonValue() }),
      ),
    });
    fc.assert(fc.property(nearly, (sent) => void checkPlaybook(sent)));
  });
});

describe("filling references", () => {
  const outputs = new Map<string, unknown>([["a", { rows: [{ n: 42, name: "x" }], list: ["p", "q"] }]]);

  test("a whole text becomes the value itself, a part becomes text", () => {
    const input = {
      n: "${steps.a.output.rows[0].n}",
      all: ["${steps.a.output.list}"],
      text: "is ${steps.a.output.rows.0.n}: ${steps.a.output.list}",
    };
    expect(fillReferences(input, outputs)).toEqual({
      ok: true,
      input: { n: 42, all: [["p", "q"]], text: 'is 42: ["p","q"]' },
    });
  });

  test.each([
    "${steps.a.output.rows[9].n}",
    "${steps.b.output}",
    "${steps.a.output.constructor}",
    "x ${steps.a.output.rows[0].__proto__}",
  ])("what has no value is told: %s", (text) => {
    expect(fillReferences({ text }, outputs)).toMatchObject({ ok: false });
  });

  test("an output named often enough to fill a worker's memory is refused, and put together no further", () => {
    const large = new Map<string, unknown>([["a", { rows: "x".repeat(250_000) }]]);
    const whole = { fields: Array.from({ length: 100 }, () => "${steps.a.output}") };
    for (const input of [{ text: "${steps.a.output}".repeat(5_000) }, whole]) {
      expect(fillReferences(input, large)).toMatchObject({ ok: false, reason: expect.stringContaining("4194304") });
    }
    expect(fillReferences({ text: "${steps.a.output.rows}".repeat(16) }, large)).toMatchObject({ ok: true });
  });

  test("what is told of a wrong field does not repeat a name of a megabyte for each of its problems", () => {
    const input = { url: "https://example.com/", body: { ["k".repeat(900_000)]: Array(100).fill("${x}") } };
    const problems = checkPlaybook({ name: "x", steps: [{ id: "a", tool: "http", input }] });
    expect(problems).toHaveLength(100);
    expect(JSON.stringify(problems).length).toBeLessThan(50_000);
  });

  test("a value that looks like a reference is not filled again", () => {
    const sly = new Map<string, unknown>([["a", "${steps.a.output}"]]);
    expect(fillReferences({ t: "<${steps.a.output}>" }, sly)).toEqual({
      ok: true,
      input: { t: "<${steps.a.output}>" },
    });
  });
});

test("a step that was started and has no end is unknown as soon as its run has ended", () => {
  expect(shownStepState("started", false)).toBe("started");
  expect(shownStepState("started", true)).toBe("unknown");
  expect(shownStepState(null, true)).toBe("notReached");
  expect(shownStepState("finished", true)).toBe("finished");
});
