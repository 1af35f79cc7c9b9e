import { expect, test } from "vitest";
import type { Config } from "../../../../config/config.ts";
import type { PreflightLine } from "../../../../config/control-api.ts";
import { createClearance } from "../../../../supervisor/control/clearance.ts";
import { ofRestart } from "../../../../supervisor/core/preflight.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import type { Journal } from "../../../../supervisor/rollouts/journal.ts";

const line = (check: string, verdict: PreflightLine["verdict"]): PreflightLine => ({
  check,
  verdict,
  found: `${check} found`,
  why: "It matters.",
  command: `look at ${check}`,
});

function setup(lines: readonly PreflightLine[]) {
  const written: string[] = [];
  const journal = { write: ({ message }: { message: string }) => written.push(message) } as unknown as Journal;
  const clearance = createClearance({ run: async () => lines, quick: async () => () => lines }, journal, en);
  return { written, ask: () => clearance.ask({} as Config) };
}

test("a FAIL refuses with what was found and the command for it, before anything is written", async () => {
  const { ask, written } = setup([line("port", "FAIL"), line("memory", "WARN")]);
  await expect(ask()).rejects.toMatchObject({
    code: "preflight.failed",
    message: expect.stringContaining("port: port found"),
    next: expect.stringContaining("look at port"),
  });
  expect(written).toEqual([]);
});

test("a WARN is an event and a note; an OK is neither", async () => {
  const { ask, written } = setup([line("memory", "WARN"), line("clock", "OK")]);
  expect(await ask()).toEqual(["memory: memory found. It matters. (look at memory)"]);
  expect(written).toEqual(["memory: memory found. It matters."]);
});

test("a restart is not refused over a silent database or over what an update alone needs", () => {
  expect(ofRestart(line("database", "FAIL"))).toMatchObject([{ verdict: "WARN" }]);
  expect(ofRestart(line("disk-dump", "FAIL"))).toEqual([]);
  expect(ofRestart(line("connections", "FAIL"))).toMatchObject([{ verdict: "FAIL" }]);
});
