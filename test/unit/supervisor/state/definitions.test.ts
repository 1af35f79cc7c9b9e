// What was tried out and stood, when it cannot be loaded any more at the moment it is to come into force.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { homePaths } from "../../../../config/home.ts";
import { en } from "../../../../supervisor/core/text/text.ts";
import { readDefinition } from "../../../../supervisor/state/definition.ts";
import { createDefinitions } from "../../../../supervisor/state/definitions.ts";

type Parts = Parameters<typeof createDefinitions>[0];

test("a definition that stood and names a file that is gone is refused, and the loop goes on", () => {
  const home = mkdtempSync(join(tmpdir(), "owl-definitions-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const paths = { ...homePaths(home), state: home };
  const told: string[] = [];
  const definitions = createDefinitions({
    journal: { write: ({ type }: { type: string }) => told.push(type) },
    rollouts: { get: () => ({ state: "succeeded" }), facts: () => null, cancel: () => null },
    record: en,
    kept: { inForce: "good", bootId: "boot", trial: { rollout: "r-1", text: "new" }, refused: null },
    load: () => {
      throw new Error("the key file is gone");
    },
    inForce: () => ({ services: [] }),
    book: { all: () => [] },
    paths,
  } as unknown as Parts);
  expect(definitions.settle()).toBe(true);
  expect(definitions.settle()).toBe(false);
  expect(told).toEqual(["config.refused"]);
  expect(readDefinition(home)).toMatchObject({ inForce: "good", trial: null });
  expect(definitions.notInForce()?.(en)).toContain("the key file is gone");
});
