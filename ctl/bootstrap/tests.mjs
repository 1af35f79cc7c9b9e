// npm test and npm run test:system: vitest under the pinned Node, then a look for processes left behind,
// and as the very last line `N passed, N failed`.

import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { endLeftOver } from "./leaks.mjs";
import { modules } from "./paths.mjs";
import { runNode } from "./run.mjs";
import { say } from "./say.mjs";

/** A file that takes so long is worth a look. */
const SLOW_S = 5;

/** Exit code 0 when every test passed and nothing was left behind. */
export async function runTests(projects, args) {
  // TMPDIR is the mark of this run: tests make their homes below it, and instances inherit it, whatever else they lose.
  const temporary = mkdtempSync("/tmp/owl-t-");
  chmodSync(temporary, 0o1777);
  const report = join(temporary, "report.json");
  const code = await runNode(
    [
      join(modules, "vitest/vitest.mjs"),
      "run",
      "--config",
      "test/vitest.config.ts",
      ...projects.flatMap((project) => ["--project", project]),
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
      ...args,
    ],
    { env: { TMPDIR: temporary } },
  );
  const counts = countsOf(report);
  const left = await endLeftOver(temporary);
  for (const one of left) say.progress(`left behind by the tests, now ended: pid ${one.pid} ${one.command}`);
  rmSync(temporary, { recursive: true, force: true });
  let failed = counts.failed + (left.length > 0 ? 1 : 0);
  if (code !== 0 && failed === 0) failed = 1;
  for (const one of counts.slowest) say.result(`slow: ${one}`);
  for (const one of counts.failures) say.result(`failed: ${one}`);
  for (const one of left) say.result(`failed: left behind: pid ${one.pid} ${one.command}`);
  say.result(`${counts.passed} passed, ${failed} failed`);
  return failed > 0 || counts.passed === 0 ? 1 : 0;
}

/** Tests by outcome. A file that could not even be loaded counts as one failure; so does a skipped test. */
function countsOf(report) {
  let result;
  try {
    result = JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return { passed: 0, failed: 1, failures: ["no report was written by the test run"], slowest: [] };
  }
  const broken = result.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.every((one) => one.status !== "failed"),
  );
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + result.numPendingTests + broken.length,
    failures: result.testResults.flatMap(failuresOf),
    slowest: result.testResults
      .map((file) => ({ where: whereOf(file), seconds: Math.round((file.endTime - file.startTime) / 1_000) }))
      .filter(({ seconds }) => seconds >= SLOW_S)
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, 10)
      .map(({ where, seconds }) => `${where} ${seconds} s`),
  };
}

/** For each failure of a file a line that says where and which, then how it failed: bounded, so that a log's end holds all. */
function failuresOf(file) {
  const where = whereOf(file);
  const tests = file.assertionResults
    .filter((one) => one.status === "failed")
    .map((one) => `${where}: ${one.fullName}: ${howOf(one.failureMessages?.[0])}`);
  return file.status === "failed" && tests.length === 0 ? [`${where}: ${howOf(file.message)}`] : tests;
}

const whereOf = (file) => file.name.replace(/^.*?\/test\//, "test/");
const HOW_LINES = 40;
const HOW_CHARACTERS = 2_400;

/** The message without the stack of calls: its first line, and of a long rest the end, where the reason stands. */
function howOf(message) {
  const lines = (message ?? "no message").trim().split("\n");
  const [first, ...rest] = lines.filter((line) => !/^\s+at /.test(line));
  const end = rest.slice(-HOW_LINES).map((line) => `     ${line}\n`);
  return `${first.slice(0, 240)}\n${end.join("").slice(-HOW_CHARACTERS)}`.trimEnd();
}
