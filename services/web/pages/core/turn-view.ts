// A turn as the page shows it, kept by stored events. Invariants: an event is applied once (by its number), never out
// of order (a gap asks for the turn again), and only `end` or a stored ending ends a turn - a closed stream never does.
// `rewind` takes text back: what is shown is always what is stored.

import type { AskedStep } from "../../../core/wire/step.ts";
import type { Attachment, Turn } from "../../../core/wire/turn.ts";

export type TurnState = Turn["state"];

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly state: "running" | "done" | "failed" | "stopped";
  /** The statement or arguments, as text. */
  readonly input: string;
  readonly rows: number | null;
  readonly ms: number | null;
  readonly error: string | null;
  /** What the model thought aloud; null for a call of a tool. */
  readonly thought: string | null;
  /** How much of the answer stood before it was called. */
  readonly at: number;
  /** The rows it gave, as far as they were told. */
  readonly table: { readonly columns: readonly string[]; readonly rows: readonly (readonly unknown[])[] } | null;
}

export interface TurnView {
  readonly id: string;
  readonly conversationId: string;
  readonly state: TurnState;
  readonly text: string;
  readonly answer: string;
  readonly message: string | null;
  readonly position: number | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
  readonly stopRequested: boolean;
  readonly tools: readonly ToolCall[];
  readonly attachments: readonly Attachment[];
  /** Calls its owner decides about, while it is waiting. */
  readonly waitsFor: readonly AskedStep[];
  /** All versions of it, oldest first; none where it is the only one. */
  readonly versions: readonly string[];
  readonly feedback: Turn["feedback"];
  /** Number of the last event in here. */
  readonly seq: number;
}

/** A turn of the API, or what a page knows of one that it has not read. */
export type TurnFacts = Partial<Turn> &
  Pick<Turn, "id" | "conversationId" | "state" | "text" | "answer" | "message" | "position" | "createdAt" | "endedAt">;

export interface TurnEvent {
  readonly seq: number;
  readonly kind: "delta" | "tool" | "state" | "rewind" | "end";
  readonly data: Readonly<Record<string, unknown>>;
}

/** gap: events are missing before this one; the turn must be read again. */
type Applied =
  | { readonly kind: "applied"; readonly turn: TurnView }
  | { readonly kind: "known" }
  | { readonly kind: "gap" };

export function hasEnded(state: TurnState): boolean {
  return state === "answered" || state === "stopped" || state === "failed";
}

/** The view of a stored turn. */
export function viewOfTurn(json: TurnFacts): TurnView {
  const tools = (json.tools ?? []).reduce<readonly ToolCall[]>((before, data) => withTool(before, data, 0), []);
  return {
    id: json.id,
    conversationId: json.conversationId,
    state: json.state,
    text: json.text,
    answer: json.answer ?? "",
    message: json.message,
    position: json.position,
    createdAt: json.createdAt,
    endedAt: json.endedAt,
    stopRequested: json.stopRequested ?? false,
    tools: hasEnded(json.state) ? settled(tools) : tools,
    attachments: json.attachments ?? [],
    waitsFor: json.waitsFor ?? [],
    versions: json.versions ?? [],
    feedback: json.feedback ?? null,
    seq: Number(json.lastEventId ?? 0),
  };
}

/** `turn` with the event, when it is the next one. */
export function applyTurnEvent(turn: TurnView, event: TurnEvent): Applied {
  if (event.seq <= turn.seq || hasEnded(turn.state)) return { kind: "known" };
  if (event.seq > turn.seq + 1) return { kind: "gap" };
  return { kind: "applied", turn: { ...changed(turn, event), seq: event.seq } };
}

/**
 * The one of two views of a turn that knows more: an answer that arrives late never takes text away. `read` came last,
 * and knows its versions.
 */
export function newerView(held: TurnView, read: TurnView): TurnView {
  const isHeld = hasEnded(held.state) === hasEnded(read.state) ? read.seq < held.seq : hasEnded(held.state);
  if (!isHeld) return read;
  return String(held.versions) === String(read.versions) ? held : { ...held, versions: read.versions };
}

function changed(turn: TurnView, event: TurnEvent): TurnView {
  const { data } = event;
  switch (event.kind) {
    case "delta":
      return { ...turn, state: "running", position: null, answer: turn.answer + textOf(data.text) };
    case "tool":
      return { ...turn, state: "running", position: null, tools: withTool(turn.tools, data, turn.answer.length) };
    case "state": {
      const state = OPEN_STATES.find((one) => one === data.state) ?? turn.state;
      const waitsFor = state === "waiting" && Array.isArray(data.waitsFor) ? (data.waitsFor as AskedStep[]) : [];
      return { ...turn, state, waitsFor, position: state === "queued" ? turn.position : null };
    }
    case "rewind":
      return { ...turn, answer: turn.answer.slice(0, numberOf(data.length) ?? 0) };
    case "end": {
      const state = data.state === "answered" || data.state === "stopped" ? data.state : "failed";
      const message = typeof data.message === "string" ? data.message : null;
      return { ...turn, state, message, position: null, waitsFor: [], tools: settled(turn.tools) };
    }
  }
}

const OPEN_STATES = ["queued", "running", "waiting"] as const;

/** No tool stays busy in an ended turn. */
function settled(tools: readonly ToolCall[]): readonly ToolCall[] {
  return tools.map((tool) => (tool.state === "running" ? { ...tool, state: "stopped" } : tool));
}

const TOOL_STATES: Readonly<Record<string, ToolCall["state"]>> = {
  started: "running",
  running: "running",
  done: "done",
  finished: "done",
  failed: "failed",
  aborted: "stopped",
  stopped: "stopped",
};

/** `answered`: how much of the answer stands already, for a call that does not say so itself. */
function withTool(
  tools: readonly ToolCall[],
  data: Readonly<Record<string, unknown>>,
  answered: number,
): readonly ToolCall[] {
  const id = textOf(data.id ?? data.callId ?? `${textOf(data.name)}-${tools.length}`);
  const old = tools.find((tool) => tool.id === id);
  const call: ToolCall = {
    id,
    name: textOf(data.name ?? data.tool ?? old?.name),
    state: TOOL_STATES[textOf(data.state)] ?? (data.error ? "failed" : "running"),
    input: data.input === undefined ? (old?.input ?? "") : inputText(data.input),
    rows: numberOf(data.rows) ?? old?.rows ?? null,
    ms: numberOf(data.ms ?? data.elapsedMs) ?? old?.ms ?? null,
    error: data.error || data.message ? textOf(data.error ?? data.message) : null,
    thought: typeof data.thought === "string" ? data.thought : (old?.thought ?? null),
    at: old?.at ?? numberOf(data.at) ?? answered,
    table: tableOf(data.table) ?? old?.table ?? null,
  };
  return old ? tools.map((tool) => (tool.id === id ? call : tool)) : [...tools, call];
}

/** A statement is shown as it is, other arguments as JSON. */
function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  if (typeof input === "object" && input !== null) {
    const entries = Object.entries(input);
    const statement = entries.find(([name]) => name === "sql" || name === "statement" || name === "query");
    if (statement && typeof statement[1] === "string") return statement[1];
    if (entries.length === 0) return "";
  }
  return JSON.stringify(input, null, 2);
}

function tableOf(value: unknown): ToolCall["table"] {
  if (typeof value !== "object" || value === null) return null;
  const { columns, rows } = value as { columns?: unknown; rows?: unknown };
  if (!Array.isArray(columns) || !Array.isArray(rows)) return null;
  return { columns: columns.map(textOf), rows: rows.map((row) => (Array.isArray(row) ? row : [row])) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : String(value);
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
