// npm start, npm test, npm run …: plain JavaScript for any Node >= 20, because nothing is installed yet.
// It installs what is missing (npm ci), then hands over to the pinned Node. Exit codes are those of what it ran.

import { runCheck } from "./bootstrap/check.mjs";
import { runDev } from "./bootstrap/dev.mjs";
import { ensureInstalled } from "./bootstrap/install.mjs";
import { runBench, runChaos, runRelease } from "./bootstrap/programs.mjs";
import { say } from "./bootstrap/say.mjs";
import { runStart } from "./bootstrap/start.mjs";
import { runTests } from "./bootstrap/tests.mjs";

const COMMANDS = {
  start: runStart,
  dev: runDev,
  test: (args) => runTests(["unit", "integration", "whole"], args),
  "test:system": (args) => runTests(["system"], args),
  check: runCheck,
  bench: runBench,
  chaos: runChaos,
  release: runRelease,
};

const [name = "start", ...args] = process.argv.slice(2);
const run = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null;
if (run === null) {
  process.stderr.write(`There is no ${JSON.stringify(name)} here.\nThese are: ${Object.keys(COMMANDS).join(", ")}\n`);
  process.exit(2);
}
try {
  await ensureInstalled();
  process.exitCode = await run(args);
} catch (error) {
  say.problem(error);
  process.exitCode = 1;
}
