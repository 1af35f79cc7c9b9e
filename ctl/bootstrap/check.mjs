// npm run check: types (each core under its own stricter settings), Biome, and the rules tests read off the sources.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { modules, root } from "./paths.mjs";
import { runNode } from "./run.mjs";
import { say } from "./say.mjs";

const CORES = ["supervisor/core", "supervisor/proxy/core", "services/core"];

/** Exit code 0 when all are clean. */
export async function runCheck() {
  const tsc = join(modules, "typescript/bin/tsc");
  const checks = [
    ["types", [tsc, "-p", "."]],
    ...CORES.filter((core) => existsSync(join(root, core, "tsconfig.json"))).map((core) => [
      `types of ${core}`,
      [tsc, "-p", core],
    ]),
    ["lint and format", [join(modules, "@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."]],
    [
      "rules",
      [
        join(modules, "vitest/vitest.mjs"),
        "run",
        "--config",
        "test/vitest.config.ts",
        "--project",
        "unit",
        "test/unit/rules",
      ],
    ],
  ];
  const failures = [];
  for (const [name, args] of checks) {
    const code = await runNode(args);
    if (code !== 0) failures.push(name);
    say.result(`${code === 0 ? "ok  " : "FAIL"} ${name}`);
  }
  for (const name of failures) say.result(`failed: ${name}`);
  say.result(`${checks.length - failures.length} passed, ${failures.length} failed`);
  return failures.length > 0 ? 1 : 0;
}
