// Which text of owl.yaml an owld goes by when it starts.

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../../../../config/config.ts";
import { beginDefinition } from "../../../../supervisor/state/begin-definition.ts";
import {
  type DefinitionRecord,
  hashOf,
  keepsInForce,
  readDefinition,
  writeDefinition,
} from "../../../../supervisor/state/definition.ts";

const kept: DefinitionRecord = { inForce: "good", bootId: "boot", trial: null, refused: null };
const refused = { hash: hashOf("bad"), reason: "it ended" };

test.each([
  ["nothing was kept", "bad", null, "boot", null],
  ["it is the one in force", "good", kept, "boot", null],
  ["it was changed while what runs may live", "bad", kept, "boot", { hash: hashOf("bad"), reason: null }],
  ["it was changed, and the machine started anew", "bad", kept, "boot 2", null],
  ["it was changed, and owld had stopped in order", "bad", { ...kept, bootId: null }, "boot", null],
  ["it was refused before", "bad", { ...kept, refused }, "boot", refused],
  ["it was refused before, and the machine started anew", "bad", { ...kept, refused }, "boot 2", refused],
  ["another one than the refused, started anew", "new", { ...kept, refused }, "boot 2", null],
  ["it cannot be read while what runs may live", undefined, kept, "boot", { hash: "unreadable", reason: null }],
])("%s", (_, file, record, bootId, expected) => expect(keepsInForce(file, record, bootId)).toEqual(expected));

test("what is kept is its owner's alone and comes back whole", () => {
  const directory = mkdtempSync(join(tmpdir(), "owl-definition-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  expect(readDefinition(directory)).toBeNull();
  const releases = { releases: { web: "7" }, earlier: { web: ["6"] } };
  const record = { ...kept, ...releases, trial: { rollout: "r-1", text: null }, before: null };
  writeDefinition(directory, record);
  expect(readDefinition(directory)).toEqual(record);
  expect(statSync(join(directory, "definition.json")).mode & 0o777).toBe(0o600);
});

test("an owld that starts again within the time may still go back from what just stood, by the same file alone", () => {
  const home = mkdtempSync(join(tmpdir(), "owl-definition-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, "state"));
  const before = { rollout: "r-1", text: "old", releases: {} };
  writeDefinition(join(home, "state"), { ...kept, bootId: "another boot", releases: {}, before });
  const file = join(home, "owl.yaml");
  const begin = (text: string) => {
    writeFileSync(file, text);
    const request = { file, env: { OWL_HOME: home }, cwd: home };
    return beginDefinition(request, () => ({ services: [] }) as unknown as Config).definition.before;
  };
  expect([begin("good"), begin("another")]).toEqual([before, null]);
});
