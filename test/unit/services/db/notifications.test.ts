// Notifications beside the commits: together, each once, and without holding anybody up.

import { expect, test } from "vitest";
import { createNotifications } from "../../../../services/db/notifications.ts";
import type { Sql, SqlResult } from "../../../../services/db/pool.ts";

type Sent = readonly (readonly [string, string])[];

/** Answers each statement when the test lets it. */
function setup() {
  const sent: Sent[] = [];
  const waiting: { resolve(): void; reject(error: Error): void }[] = [];
  const errors: Error[] = [];
  const sql: Sql = {
    query<Row extends object>(_text: string, values: readonly unknown[] = []) {
      const [channels = [], payloads = []] = values as readonly (readonly string[])[];
      sent.push(channels.map((channel, index) => [channel, payloads[index] ?? ""]));
      return new Promise<SqlResult<Row>>((resolve, reject) => {
        waiting.push({ resolve: () => resolve({ rows: [], rowCount: 0 }), reject });
      });
    },
  };
  const notifications = createNotifications(sql, undefined, (error) => errors.push(error));
  const answer = async (how: "done" | "cut") => {
    const next = waiting.shift();
    if (how === "done") next?.resolve();
    else next?.reject(new Error("cut"));
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  return { notifications, sent, errors, answer };
}

test("the first goes out at once, what comes meanwhile goes together after it, each once", async () => {
  const { notifications, sent, answer } = setup();
  notifications.note("owl_turn", "a");
  expect(sent).toEqual([[["owl_turn", "a"]]]);
  notifications.note("owl_turn", "b");
  notifications.note("owl_observe", "batch:b");
  notifications.note("owl_turn", "b");
  expect(sent).toHaveLength(1);
  await answer("done");
  expect(sent[1]).toEqual([
    ["owl_turn", "b"],
    ["owl_observe", "batch:b"],
  ]);
  await answer("done");
  await notifications.sent();
  expect(sent).toHaveLength(2);
});

test("a cut connection is tried again; given up after the third try it is told, and the next ones go out", async () => {
  const { notifications, sent, errors, answer } = setup();
  notifications.note("owl_turn", "a");
  await answer("cut");
  expect(sent).toEqual([[["owl_turn", "a"]], [["owl_turn", "a"]]]);
  await answer("cut");
  expect(errors).toEqual([]);
  await answer("cut");
  expect(errors.map(({ message }) => message)).toEqual(["cut"]);
  await notifications.sent();
  notifications.note("owl_turn", "b");
  expect(sent.at(-1)).toEqual([["owl_turn", "b"]]);
  await answer("done");
  await notifications.sent();
});
