// A list of jobs read again under its reader's eyes, and the filter that the address keeps.

import { expect, test } from "vitest";
import { FILTERS, queryOf, searchOf } from "../../../../services/web/pages/admin/jobs.ts";
import { mergeRows } from "../../../../services/web/pages/core/job-rows.ts";

const rows = (...marks: string[]) => marks.map((mark) => ({ id: mark[0] ?? "", state: mark.slice(1) }));
const all = { isWhole: true, showsAll: true };

test("rows change in place, in the order they were shown in", () => {
  const { rows: now, left, came } = mergeRows(rows("aq", "bq"), rows("br", "ar"), all);
  expect(now).toEqual(rows("ar", "br"));
  expect([...left]).toEqual([]);
  expect(came).toBe(0);
});

test("a row that left the list stays where it was and is marked", () => {
  const { rows: now, left } = mergeRows(rows("a", "b", "c"), rows("a", "c"), all);
  expect(now).toEqual(rows("a", "b", "c"));
  expect([...left]).toEqual(["b"]);
});

test("new rows are counted, not shown", () => {
  const { rows: now, came } = mergeRows(rows("b", "c"), rows("x", "b", "y", "c", "z"), all);
  expect(now).toEqual(rows("b", "c"));
  expect(came).toBe(3);
});

test("below the last known row lies only the next page, and rows below what was read have not left", () => {
  const part = { isWhole: false, showsAll: false };
  expect(mergeRows(rows("a", "b", "c"), rows("b", "c", "d", "e"), part)).toMatchObject({ came: 0 });
  expect([...mergeRows(rows("a", "b", "c"), rows("x", "a", "b"), part).left]).toEqual([]);
  expect([...mergeRows(rows("a", "b", "c"), rows("b", "c", "d"), part).left]).toEqual(["a"]);
});

test("every filter comes back from its address, and what is no filter is the usual one", () => {
  for (const state of FILTERS) {
    for (const kind of [null, "chat", "schema-analysis"] as const) {
      for (const owner of ["", "mina", "a b&c=d"]) {
        const query = { kind, state, owner };
        expect(queryOf(searchOf(query))).toEqual(query);
      }
    }
  }
  expect(searchOf(queryOf("?kind=what&state=gone"))).toBe("");
});
