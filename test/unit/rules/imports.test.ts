// Who may import whom, read off the import lines of every source; and the rule itself on lines it must refuse.

import { expect, test } from "vitest";
import { brokenImports, importsOf } from "../../support/rules/import-rule.ts";
import { sources, WINGS } from "../../support/rules/sources.ts";

test("every import of the repository is one the table allows", () => {
  expect(sources([...WINGS, "test"]).flatMap(brokenImports)).toEqual([]);
});

test("the sources are really read", () => {
  const paths = sources().map((one) => one.path);
  for (const expected of ["config/load.ts", "supervisor/ports.ts", "ctl/main.ts"]) expect(paths).toContain(expected);
  expect(sources().flatMap((one) => importsOf(one.text)).length).toBeGreaterThan(100);
});

test.each([
  ["config/x.ts", 'import { a } from "../supervisor/ports.ts";'],
  ["supervisor/x.ts", 'import { a } from "../services/db/pool.ts";'],
  ["supervisor/x.ts", 'import { a } from "../ctl/client.ts";'],
  ["supervisor/instances/x.ts", 'import { spawner } from "../process/spawn.ts";'],
  ["supervisor/core/x.ts", 'import { readFileSync } from "node:fs";'],
  ["supervisor/core/x.ts", 'import pg from "pg";'],
  ["supervisor/loop.ts", 'import { createProxies } from "./proxies/set.ts";'],
  ["supervisor/core/x.ts", 'import { a } from "../ports.ts";'],
  ["supervisor/core/x.ts", 'import type { A } from "../ports.ts";'],
  ["supervisor/core/x.ts", 'import { loadConfig } from "../../config/load.ts";'],
  ["supervisor/proxy/x.ts", 'import { a } from "../ports.ts";'],
  ["supervisor/proxies/client.ts", 'import { a } from "../proxy/forward.ts";'],
  ["services/web/x.ts", 'import { a } from "../worker/worker.ts";'],
  ["services/worker/x.ts", 'const a = await import("../web/app.ts");'],
  ["services/jobs/chat/x.ts", 'import { a } from "../playbook/handler.ts";'],
  ["services/jobs/chat/x.ts", 'export { a } from "../playbook/handler.ts";'],
  ["services/web/x.ts", 'import PgBoss from "pg-boss";'],
  ["services/web/x.ts", 'import { a } from "../../supervisor/ports.ts";'],
  ["ctl/x.ts", 'import { a } from "../supervisor/ports.ts";'],
  ["ctl/x.ts", 'import "../test/support/x.ts";'],
  ["ctl/x.ts", 'import {\n  a,\n  b,\n} from "../services/db/pool.ts";'],
  ["ctl/x.ts", 'import fs from "fs";'],
  ["ctl/x.ts", 'import { type Server, request } from "node:http";'],
  ["ctl/x.ts", 'import { a } from "./client";'],
  ["ctl/x.ts", "const a = await import(name);"],
])("%s may not say %s", (path, text) => {
  expect(brokenImports({ path, text: `// x\n${text}\n` })).toHaveLength(1);
});

test.each([
  ["supervisor/core/x.ts", 'import { parseDuration } from "../../config/units.ts";'],
  ["supervisor/core/x.ts", 'import type { Config } from "../../config/config.ts";'],
  ["ctl/x.ts", 'import type { Server } from "node:http";'],
  ["supervisor/daemon.ts", 'import { spawner } from "./process/spawn.ts";'],
  ["supervisor/loop.ts", 'import type { Spawner } from "./ports.ts";'],
  ["services/worker/x.ts", 'import { a } from "../jobs/handlers.ts";'],
  ["test/unit/x.test.ts", 'import { a } from "../../supervisor/proxy/forward.ts";'],
  ["ctl/x.ts", '// import { a } from "../supervisor/ports.ts";'],
])("%s may say %s", (path, text) => {
  expect(brokenImports({ path, text })).toEqual([]);
});
