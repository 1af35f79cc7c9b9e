// An answer's second telling: what was told before is passed over, and what differs takes the rest back first.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Database } from "../../../../services/db/pool.ts";
import { createAnswerSink } from "../../../../services/jobs/chat/answer-sink.ts";
import { createTestClock } from "../../../support/test-clock.ts";

/** A turn whose stored text is `told`; `text` is the stored text afterwards. */
function setup(told: string) {
  const state = { text: told, seq: 1, rewinds: 0 };
  const query = async (statement: string, values: readonly unknown[] = []) => {
    if (statement.startsWith("SELECT seq, kind")) {
      return { rows: [{ seq: 1, kind: "delta", text: state.text }], rowCount: 1 };
    }
    if (statement.startsWith("DELETE")) {
      state.text = "";
      state.rewinds += 1;
    } else if (statement.startsWith("INSERT")) {
      state.text += (JSON.parse(values[3] as string) as { text?: string }).text ?? "";
    } else if (statement.includes("WITH held")) {
      const events = JSON.parse(values[2] as string) as { kind: string; data: { text?: string } }[];
      for (const { data } of events) state.text += data.text ?? "";
    }
    state.seq += 1;
    return { rows: [{ seq: state.seq }], rowCount: 1 };
  };
  const db = { query, notify: () => {}, transaction: (work: (sql: unknown) => unknown) => work({ query }) };
  const sink = createAnswerSink({
    db: db as unknown as Database,
    clock: createTestClock(),
    log: { warn: () => {}, error: () => {} } as never,
    turn: { id: "t", attempt: 2 },
    onLost: () => {},
    told: { text: told, seq: 1 },
  });
  return { state, sink };
}

test("what is said again is not stored again, and what follows is", async () => {
  const { state, sink } = setup("Hello wor");
  for (const part of ["Hel", "lo", " world", "!"]) sink.text(part);
  await sink.flush(1_000);
  expect(state).toMatchObject({ text: "Hello world!", rewinds: 0 });
});

test("what differs takes the rest back, never between the halves of a character", async () => {
  const { state, sink } = setup("ab😀 and more");
  sink.text("ab😁");
  await sink.flush(1_000);
  expect(state).toMatchObject({ text: "ab😁", rewinds: 1 });
});

test("an answer that ends sooner takes the rest back", async () => {
  const { state, sink } = setup("one two three");
  sink.text("one two");
  sink.close();
  await sink.flush(1_000);
  expect(state).toMatchObject({ text: "one two", rewinds: 1 });
});

test("whatever was told and whatever is said in whatever pieces: what is stored is what was said", async () => {
  const parts = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "😀", "😁"), maxLength: 4 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom("a", "b", "😀", "😁"), maxLength: 8 }),
      parts,
      async (told, said) => {
        const { state, sink } = setup(told);
        for (const part of said) sink.text(part);
        sink.close();
        await sink.flush(1_000);
        expect(state.text).toBe(said.join(""));
      },
    ),
  );
});
