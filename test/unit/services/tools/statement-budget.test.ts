// How many statements an account runs: more at once wait, more a minute are refused; another account is not concerned.

import { expect, test } from "vitest";
import { createStatementBudget } from "../../../../services/tools/statement-budget.ts";
import { createTestClock } from "../../../support/test-clock.ts";

const never = new AbortController().signal;

test("the third of two at once waits for a place; another account's does not", async () => {
  const budget = createStatementBudget({ statements: 2, statementsPerMinute: 100 }, createTestClock());
  const leave = await budget.enter("a", never);
  await budget.enter("a", never);
  const order: string[] = [];
  const third = budget.enter("a", never).then(() => order.push("third"));
  await budget.enter("b", never);
  order.push("other");
  leave();
  leave();
  await third;
  expect(order).toEqual(["other", "third"]);
});

test("past the minute's number a statement is refused until the minute is over", async () => {
  const clock = createTestClock();
  const budget = createStatementBudget({ statements: 10, statementsPerMinute: 2 }, clock);
  await budget.enter("a", never);
  await budget.enter("a", never);
  await expect(budget.enter("a", never)).rejects.toMatchObject({ code: "limit.statementsPerMinute" });
  (await budget.enter("b", never))();
  await clock.advance(60_000);
  await expect(budget.enter("a", never)).resolves.toBeTypeOf("function");
});
