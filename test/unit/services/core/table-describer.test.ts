import { expect, test } from "vitest";
import { describeTable } from "../../../../services/core/table-describer.ts";

const table = {
  table: "orders",
  kind: "table",
  rowsAbout: 3_000,
  comment: null,
  columns: [
    { name: "id", type: "integer", nullable: false, comment: null, key: "primary" as const, refersTo: null },
    {
      name: "customer",
      type: "integer",
      nullable: true,
      comment: "who",
      key: "foreign" as const,
      refersTo: "customers",
    },
  ],
  samples: [
    ["1", null],
    ["2", "7"],
  ],
};

test("says what catalogue and sample rows show, in the interface's language", () => {
  expect(describeTable(table, "en")).toEqual({
    description: "orders (table); 2 columns; about 3,000 rows; identified by id; refers to customers.",
    columns: [
      { name: "id", type: "integer", description: "identifies the row; for example 1, 2" },
      { name: "customer", type: "integer", description: "who; refers to customers; may be empty; for example 7" },
    ],
  });
  expect(describeTable(table, "ko").description).toContain("컬럼 2개");
});
