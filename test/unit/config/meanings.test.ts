// The schema as an editor shows it.

import { expect, test } from "vitest";
import { MEANINGS } from "../../../config/meanings.ts";
import { owlYamlJsonSchema } from "../../../config/schema.ts";

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
}

function nodeAt(path: readonly string[]): Node | undefined {
  return path.reduce<Node | undefined>((node, step) => {
    if (step !== "*") return node?.properties?.[step];
    return typeof node?.additionalProperties === "object" ? node.additionalProperties : node?.items;
  }, owlYamlJsonSchema() as Node);
}

test.each(Object.keys(MEANINGS))("%s is a key, and says what it is for", (key) => {
  expect(nodeAt(key.split("."))?.description).toContain(MEANINGS[key]?.[0]);
});

test("a description says what it is for, what it takes and what holds without it", () => {
  expect(nodeAt(["stop", "grace"])?.description).toBe(
    "From SIGTERM to SIGKILL. Takes duration: 500ms, 30s, 5m, 1h. Default: 330s.",
  );
});
