// From the text of owl.yaml to checked, parsed values with positions. Shape only: no environment, no defaults.

import { LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { nearest } from "./nearest.ts";
import { type ConfigPath, type Positions, positionsOf } from "./positions.ts";
import { type ConfigProblem, pictureOf } from "./problems.ts";
import { type OwlYaml, owlYaml, owlYamlJsonSchema } from "./schema.ts";

export interface ParsedYaml {
  /** null when there are problems. */
  readonly value: OwlYaml | null;
  readonly positions: Positions;
  readonly problems: readonly ConfigProblem[];
}

/** Parses `source`; `name` is how messages call the file. Never throws. */
export function parseOwlYaml(source: string, name: string): ParsedYaml {
  const lines = new LineCounter();
  const document = parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
    stringKeys: true,
    logLevel: "silent",
  });
  const positions = positionsOf(document, lines, name);
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => {
      const { line, col } = lines.linePos(error.pos[0]);
      return { where: `${name}:${line}:${col}`, message: `not valid YAML: ${error.message.split("\n")[0]}` };
    });
    return { value: null, positions, problems };
  }
  const raw = withoutEmptySections(document.toJS({ maxAliasCount: 100 }));
  const result = owlYaml.safeParse(raw);
  if (result.success) return { value: result.data, positions, problems: [] };
  const problems = result.error.issues.flatMap((issue) => describe(issue, raw, positions));
  return { value: null, positions, problems: problems.sort(byPlace) };
}

/** A section whose lines are all commented out (`proxy:` and nothing) means the same as no section. */
function withoutEmptySections(raw: unknown): unknown {
  if (raw === null || raw === undefined) return {};
  if (typeof raw !== "object" || Array.isArray(raw)) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
}

function describe(issue: z.core.$ZodIssue, raw: unknown, positions: Positions): ConfigProblem[] {
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  const dotted = path.join(".");
  if (issue.code === "unrecognized_keys") {
    const valid = keysAt(path);
    return issue.keys.map((key) => {
      const near = nearest(key, valid);
      const meant = near === null ? `known here: ${valid.join(", ")}` : `did you mean ${near}?`;
      return { where: positions.ofKey([...path, key]), message: `unknown key ${[...path, key].join(".")}; ${meant}` };
    });
  }
  if (issue.code === "invalid_type") {
    const value = valueAt(raw, path);
    const word =
      issue.expected === "object" || issue.expected === "record"
        ? "a mapping"
        : issue.expected === "array"
          ? "a list"
          : issue.expected;
    const expected = `${dotted === "" ? "the file" : dotted}: expected ${word}, got ${pictureOf(value)}`;
    return [{ where: value === undefined ? positions.ofKey(path) : positions.of(path), message: expected }];
  }
  const missing = valueAt(raw, path) === undefined;
  const message = missing
    ? `${dotted} is missing: ${issue.message.replace(/, got nothing$/, "")}`
    : `${dotted}: ${issue.message}`;
  return [{ where: missing ? positions.ofKey(path) : positions.of(path), message }];
}

function valueAt(raw: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>(
    (node, step) => (typeof node === "object" && node !== null ? (node as Record<string, unknown>)[step] : undefined),
    raw,
  );
}

/** The keys the schema knows at `path`. */
function keysAt(path: ConfigPath): string[] {
  type Node = { properties?: Record<string, Node>; additionalProperties?: Node | boolean; items?: Node };
  let node: Node | undefined = owlYamlJsonSchema() as Node;
  for (const step of path) {
    const other: Node | boolean | undefined = node?.additionalProperties;
    node =
      typeof step === "number"
        ? node?.items
        : (node?.properties?.[step] ?? (typeof other === "object" ? other : undefined));
  }
  return Object.keys(node?.properties ?? {});
}

function byPlace(a: ConfigProblem, b: ConfigProblem): number {
  const numbers = (where: string) => where.split(":").slice(-2).map(Number);
  const [lineA = 0, columnA = 0] = numbers(a.where);
  const [lineB = 0, columnB = 0] = numbers(b.where);
  return lineA - lineB || columnA - columnB;
}
