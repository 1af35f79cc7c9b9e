// The migrations as they lie here can be applied to an empty database: a gap in the numbers would keep owld from starting.

import { join } from "node:path";
import { expect, test } from "vitest";
import { planMigrations } from "../../../supervisor/core/migration-plan.ts";
import { readMigrations } from "../../../supervisor/postgres/migrate.ts";

test("the migrations are numbered without a gap and each says whether it is compatible", async () => {
  const files = await readMigrations(join(import.meta.dirname, "../../../migrations"));
  expect(planMigrations(files, [])).toMatchObject({ verdict: "pending" });
});
