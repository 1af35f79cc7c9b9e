// From the text of owl.yaml to checked, parsed values with positions. Shape only: no environment, no defaults.

import { type Document, LineCounter, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { asError } from "./errors.ts";
import { nearest } from "./nearest.ts";
import { type ConfigPath, type Positions, positionsOf } from "./positions.ts";
import { type ConfigProblem, pictureOf } from "./problems.ts";
import { type OwlYaml, owlYaml, owlYamlJsonSchema } from "./schema.ts";

/** Far more than a configuration uses; a file that unfolds without end is stopped. */
const MAX_ALIASES = 100;

interface ParsedYaml {
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
    logLevel: "error",
  });
  const positions = positionsOf(document, lines, name);
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => {
      const { line, col } = lines.linePos(error.pos[0]);
      const why =
        error.code === "MULTIPLE_DOCS"
          ? "a second document begins here; the file is one"
          : error.message.split("\n")[0];
      return { where: `${name}:${line}:${col}`, message: `not valid YAML: ${why}` };
    });
    return { value: null, positions, problems };
  }
  const dangling = danglingAliases(document, lines, name);
  if (dangling.length > 0) return { value: null, positions, problems: dangling };
  let raw: unknown;
  try {
    raw = withoutEmptySections(document.toJS({ maxAliasCount: MAX_ALIASES }));
  } catch (error) {
    // What only shows when aliases and merges are followed: too many of them, or a merge of what is no mapping.
    const where = `${name}:1:1`;
    return { value: null, positions, problems: [{ where, message: `not valid YAML: ${asError(error).message}` }] };
  }
  const result = owlYaml.safeParse(raw);
  if (result.success) return { value: result.data, positions, problems: [] };
  const problems = result.error.issues.flatMap((issue) => describe(issue, raw, positions));
  return { value: null, positions, problems: problems.sort(byPlace) };
}

function danglingAliases(document: Document, lines: LineCounter, name: string): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const { line, col } = lines.linePos(alias.range?.[0] ?? 0);
      const message = `not valid YAML: *${alias.source} names nothing; give &${alias.source} to a value before it`;
      problems.push({ where: `${name}:${line}:${col}`, message });
    },
  });
  return problems;
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
