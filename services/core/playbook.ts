// Playbooks: an ordered list of tool calls whose inputs may refer to earlier steps' outputs. Pure: what is wrong with a
// playbook, a step's input with its references filled in, and what is known of a run that was cut.
// Invariant: a playbook without problems refers only to steps before the referring one, and names only known tools.

import { EFFECTS, type Effect, mayDeclareEffect, PLAYBOOK_TOOLS, type PlaybookTool } from "./tool-effects.ts";

/** What becomes of a run whose worker is lost: it goes on after its last finished step, or it fails. */
export const LOST_RULES = ["resume", "fail"] as const;
export type LostRule = (typeof LOST_RULES)[number];

export interface PlaybookStep {
  readonly id: string;
  readonly tool: PlaybookTool;
  readonly input: Readonly<Record<string, unknown>>;
  /** What a second call would mean, where its writer knows better than the table. */
  readonly effect?: Effect;
  /** A person allows the call before it is made. */
  readonly approval?: boolean;
}

interface PlaybookProblem {
  /** The step's id (or its place, `#2`), null where the playbook itself is wrong. */
  readonly step: string | null;
  readonly field: string;
  readonly reason: string;
}

type FieldType = "text" | "texts" | "object" | "list" | "any" | "seconds";
interface Field {
  readonly type: FieldType;
  readonly required: boolean;
}

const required = (type: FieldType): Field => ({ type, required: true });
const optional = (type: FieldType): Field => ({ type, required: false });

/** What each tool takes. */
const toolFields = {
  sql: { dataSource: required("text"), sql: required("text"), values: optional("list") },
  http: {
    url: required("text"),
    method: optional("text"),
    headers: optional("object"),
    body: optional("any"),
    timeoutSeconds: optional("seconds"),
  },
  mail: { to: required("texts"), cc: optional("texts"), subject: required("text"), text: required("text") },
  ticket: {
    url: required("text"),
    title: required("text"),
    description: optional("text"),
    fields: optional("object"),
    headers: optional("object"),
    timeoutSeconds: optional("seconds"),
  },
} as const satisfies Record<PlaybookTool, Readonly<Record<string, Field>>>;

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const STEPS_LIMIT = 100;
/** What one text of an input may hold, how deep an input may lie, and how many problems are told at most. */
const TEXT_LIMIT = 100_000;
const DEPTH_LIMIT = 20;
const PROBLEMS_LIMIT = 100;
const FIELD_SHOWN = 200;
/** What an input may hold with its references filled in: outputs named often would grow it without end. */
const FILLED_LIMIT = 4 * 2 ** 20;
const STEP_KEYS = ["id", "tool", "input", "effect", "approval"];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Everything wrong with a playbook as it was sent; empty: it may be run. */
export function checkPlaybook(raw: unknown): readonly PlaybookProblem[] {
  const problems: PlaybookProblem[] = [];
  const say = (step: string | null, field: string, reason: string) => {
    if (problems.length === PROBLEMS_LIMIT) return;
    problems.push({ step, field: field.length > FIELD_SHOWN ? `${field.slice(0, FIELD_SHOWN)}…` : field, reason });
  };
  if (!isObject(raw)) return [{ step: null, field: "", reason: "expected an object {name, steps}" }];
  const name = raw.name;
  if (typeof name !== "string" || name.trim() === "" || name.length > 200) {
    say(null, "name", "expected a text of 1 to 200 characters");
  }
  if (raw.lost !== undefined && !LOST_RULES.includes(raw.lost as LostRule)) {
    say(null, "lost", `expected one of ${LOST_RULES.join(", ")}`);
  }
  const { steps } = raw;
  if (!Array.isArray(steps) || steps.length === 0 || steps.length > STEPS_LIMIT) {
    say(null, "steps", `expected a list of 1 to ${STEPS_LIMIT} steps`);
    return problems;
  }
  const earlier = new Set<string>();
  for (const [index, step] of steps.entries()) {
    const place = `#${index + 1}`;
    if (!isObject(step)) {
      say(place, "", "expected an object {id, tool, input}");
      continue;
    }
    const id = typeof step.id === "string" && ID.test(step.id) ? step.id : null;
    const label = id ?? place;
    if (id === null) say(place, "id", "expected a letter, then letters, digits, - or _ (64 at most)");
    else if (earlier.has(id)) say(id, "id", "this id is taken by an earlier step");
    for (const key of Object.keys(step)) {
      if (!STEP_KEYS.includes(key)) say(label, key, "a step has id, tool, input, effect and approval");
    }
    if (step.approval !== undefined && typeof step.approval !== "boolean")
      say(label, "approval", "expected true or false");
    const wrongEffect = effectReason(step.tool, step.effect);
    if (wrongEffect !== null) say(label, "effect", wrongEffect);
    if (!isTool(step.tool)) say(label, "tool", `expected one of ${PLAYBOOK_TOOLS.join(", ")}`);
    else if (!isObject(step.input)) say(label, "input", "expected an object");
    else {
      const oversized = boundReason(step.input);
      if (oversized !== null) say(label, "input", oversized);
      else {
        for (const { field, reason } of checkInput(step.tool, step.input)) say(label, field, reason);
        for (const { field, reason } of checkReferences(step.input, earlier)) say(label, field, reason);
      }
    }
    if (id !== null) earlier.add(id);
  }
  return problems;
}

function effectReason(tool: unknown, effect: unknown): string | null {
  if (effect === undefined || !isTool(tool)) return null;
  if (!EFFECTS.includes(effect as Effect)) return `expected one of ${EFFECTS.join(", ")}`;
  return mayDeclareEffect(tool) ? null : `${tool} cannot declare it: what it does is known`;
}

/** Why an input is larger than one may be, or null. Looked at before anything is read in it. */
function boundReason(value: unknown, depth = 0): string | null {
  if (typeof value === "string") {
    return value.length > TEXT_LIMIT ? `expected texts of at most ${TEXT_LIMIT} characters` : null;
  }
  if (typeof value !== "object" || value === null) return null;
  if (depth === DEPTH_LIMIT) return `expected at most ${DEPTH_LIMIT} levels of lists and objects`;
  for (const one of Object.values(value)) {
    const reason = boundReason(one, depth + 1);
    if (reason !== null) return reason;
  }
  return null;
}

function* checkReferences(
  input: Readonly<Record<string, unknown>>,
  earlier: ReadonlySet<string>,
): Generator<{ readonly field: string; readonly reason: string }> {
  for (const { field, text, step } of referencesIn(input)) {
    const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
    if (step === null) yield { field: `input.${field}`, reason: `${shown} is not \${steps.ID.output.path}` };
    else if (!earlier.has(step)) {
      yield { field: `input.${field}`, reason: `${shown} refers to ${step}, which is not an earlier step` };
    }
  }
}

/** What is wrong with a tool's input; a text holding a reference stands for anything. */
export function checkInput(
  tool: PlaybookTool,
  input: Readonly<Record<string, unknown>>,
): readonly { readonly field: string; readonly reason: string }[] {
  const fields: Readonly<Record<string, Field>> = toolFields[tool];
  const wrong: { field: string; reason: string }[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const value = input[name];
    if (value === undefined) {
      if (field.required) wrong.push({ field: `input.${name}`, reason: `${tool} needs it` });
    } else if (!(typeof value === "string" && value.includes("${"))) {
      const reason = fieldReason(name, field.type, value);
      if (reason !== null) wrong.push({ field: `input.${name}`, reason });
    }
  }
  for (const name of Object.keys(input)) {
    if (!(name in fields)) {
      wrong.push({ field: `input.${name}`, reason: `${tool} takes ${Object.keys(fields).join(", ")}` });
    }
  }
  return wrong;
}

function fieldReason(name: string, type: FieldType, value: unknown): string | null {
  switch (type) {
    case "text":
      if (typeof value !== "string" || value.trim() === "") return "expected a text";
      if (name === "url" && !/^https?:\/\/[^/]/.test(value)) return "expected an http:// or https:// address";
      if (name === "method" && !METHODS.includes(value)) return `expected one of ${METHODS.join(", ")}`;
      return null;
    case "texts": {
      const list = Array.isArray(value) ? value : [value];
      return list.length > 0 && list.every((one) => typeof one === "string" && one.includes("@"))
        ? null
        : "expected a mail address or a list of them";
    }
    case "object":
      return isObject(value) ? null : "expected an object";
    case "list":
      return Array.isArray(value) ? null : "expected a list";
    case "seconds":
      return typeof value === "number" && value > 0 && value <= 1_800 ? null : "expected 1 to 1800 seconds";
    case "any":
      return null;
  }
}

/**
 * The marks `${…}` of a text, in order. Each character is looked at once: after a mark that is never closed there is
 * none, where a pattern would look for the end anew from every `${`.
 */
function* marksIn(text: string): Generator<{ readonly at: number; readonly mark: string; readonly inner: string }> {
  for (let at = text.indexOf("${"); at !== -1; ) {
    const end = text.indexOf("}", at);
    if (end === -1) return;
    yield { at, mark: text.slice(at, end + 1), inner: text.slice(at + 2, end) };
    at = text.indexOf("${", end + 1);
  }
}

const REFERENCE = /^steps\.([A-Za-z][A-Za-z0-9_-]{0,63})\.output((?:\.[A-Za-z0-9_-]+|\[\d+\])*)$/;

interface Reference {
  readonly field: string;
  readonly text: string;
  /** null: the mark is not a reference of ours. */
  readonly step: string | null;
}

function* referencesIn(value: unknown, field = ""): Generator<Reference> {
  if (typeof value === "string") {
    for (const { mark, inner } of marksIn(value)) {
      yield { field, text: mark, step: REFERENCE.exec(inner)?.[1] ?? null };
    }
    return;
  }
  const entries = Array.isArray(value) ? value.entries() : isObject(value) ? Object.entries(value) : [];
  for (const [key, one] of entries) yield* referencesIn(one, field === "" ? String(key) : `${field}.${key}`);
}

type Filled =
  | { readonly ok: true; readonly input: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly reason: string };

/**
 * `input` with every reference replaced: one that is the whole text by the value itself, others as text. Refused where
 * that is larger than FILLED_LIMIT; no more than that is ever put together.
 */
export function fillReferences(
  input: Readonly<Record<string, unknown>>,
  outputs: ReadonlyMap<string, unknown>,
): Filled {
  const known = new Map<string, { readonly value: unknown; readonly text: string }>();
  let wrong: string | null = null;
  let size = 0;
  const look = (mark: string, inner: string) => {
    let found = known.get(inner);
    if (found === undefined) {
      const match = REFERENCE.exec(inner);
      const value = match === null ? undefined : follow(outputs.get(match[1] ?? ""), match[2] ?? "");
      if (value === undefined) wrong ??= `${mark} has no value`;
      found = { value, text: asText(value) };
      known.set(inner, found);
    }
    size += found.text.length;
    if (size > FILLED_LIMIT) wrong ??= `With its references filled in it holds more than ${FILLED_LIMIT} characters`;
    return found;
  };
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill);
    if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one)]));
    if (typeof value !== "string") return value;
    const parts: string[] = [];
    let after = 0;
    for (const { at, mark, inner } of marksIn(value)) {
      const found = look(mark, inner);
      if (wrong !== null) return value;
      if (mark.length === value.length) return found.value;
      parts.push(value.slice(after, at), found.text);
      after = at + mark.length;
    }
    return parts.length === 0 ? value : parts.join("") + value.slice(after);
  };
  const filled = fill(input) as Record<string, unknown>;
  return wrong === null ? { ok: true, input: filled } : { ok: false, reason: wrong };
}

function follow(output: unknown, path: string): unknown {
  let at = output;
  for (const [, name, place] of path.matchAll(/\.([A-Za-z0-9_-]+)|\[(\d+)\]/g)) {
    const key = name ?? place ?? "";
    if (Array.isArray(at) && /^\d+$/.test(key)) at = at[Number(key)];
    else if (isObject(at) && Object.hasOwn(at, key)) at = at[key];
    else return undefined;
  }
  return at;
}

function asText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export const STEP_STATES = ["waiting", "asked", "started", "finished", "failed", "unknown", "notReached"] as const;
export type StepState = (typeof STEP_STATES)[number];

/** What is told of a step: one that was started and never finished is unknown as soon as its run has ended. */
export function shownStepState(
  stored: Exclude<StepState, "waiting" | "notReached"> | null,
  runEnded: boolean,
): StepState {
  if (stored === null) return runEnded ? "notReached" : "waiting";
  if (stored === "asked" && runEnded) return "notReached";
  return stored === "started" && runEnded ? "unknown" : stored;
}

function isTool(value: unknown): value is PlaybookTool {
  return PLAYBOOK_TOOLS.includes(value as PlaybookTool);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
