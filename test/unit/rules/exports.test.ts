// Nothing is offered that nobody takes: no idle export, file or package.

import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { idleExports, idleFiles, idlePackages } from "../../support/rules/export-rule.ts";
import { sources, WINGS } from "../../support/rules/sources.ts";

/** Programs, started by name: by owld, a unit, a script of package.json or the browser. */
const PROGRAMS = [
  "ctl/bootstrap.mjs",
  "ctl/main.ts",
  "services/media/document/main.ts",
  "services/prepare/describe.ts",
  "services/prepare/main.ts",
  "services/web/main.ts",
  "services/web/pages/entry.tsx",
  "services/web/pages/events/shared-worker.ts",
  "services/worker/main.ts",
  "supervisor/main.ts",
  "supervisor/postgres/backups/main.ts",
  "supervisor/postgres/migrate-once.ts",
  "supervisor/proxies/certificates/order-once.ts",
  "supervisor/preflight/preflight-once.ts",
  "supervisor/proxy/main.ts",
  "supervisor/release/main.ts",
];

const all = sources([...WINGS, "test"]);

test("every export is imported by another file, and not by tests alone", () => {
  expect(idleExports(all)).toEqual([]);
});

test("every source is imported or is a program", () => {
  expect(idleFiles(all, PROGRAMS)).toEqual([]);
});

test("every package is imported", () => {
  expect(idlePackages(Object.keys(manifest.dependencies), sources())).toEqual([]);
});

test("what is idle is seen", () => {
  const file = (path: string, text: string) => ({ path, text });
  const few = [
    file("ctl/a.ts", "export const a = 1;\nexport const b = 2;\nexport function c() {}\nexport type D = 1;\nlet x: D;"),
    file("ctl/b.ts", 'import {\n  a,\n  type E as F,\n} from "./a.ts";\nimport pg from "pg";'),
    file("test/x.test.ts", 'import { c, type D } from "../ctl/a.ts";'),
  ];
  expect(idleExports(few)).toEqual(["ctl/a.ts: nobody imports b", "ctl/a.ts: only tests use c"]);
  expect(idleFiles(few, [])).toEqual(["ctl/b.ts"]);
  expect(idlePackages(["pg", "pg-boss"], few)).toEqual(["pg-boss"]);
});
