// THE table of tools and what a second call of each would mean. Pure. Invariant: a tool without a row does not compile;
// what nobody declared otherwise may have acted.

import type { TOOL_NAMES } from "../../config/config.ts";

/** read: may be repeated. write: never repeated unasked. idempotent: repeated under the same Idempotency-Key. */
export const EFFECTS = ["read", "write", "idempotent"] as const;
export type Effect = (typeof EFFECTS)[number];

export type ToolName = (typeof TOOL_NAMES)[number];
export const PLAYBOOK_TOOLS = ["sql", "http", "mail", "ticket"] as const satisfies readonly ToolName[];
export type PlaybookTool = (typeof PLAYBOOK_TOOLS)[number];

interface ToolEffect {
  readonly effect: Effect;
  /** A playbook's step may declare another one: only its writer knows what the address does. */
  readonly declarable: boolean;
}

const reads: ToolEffect = { effect: "read", declarable: false };

const toolEffects = {
  list_tables: reads,
  describe_table: reads,
  run_sql: reads,
  search_transcripts: reads,
  sql: reads,
  http: { effect: "write", declarable: true },
  mail: { effect: "write", declarable: false },
  ticket: { effect: "write", declarable: true },
} as const satisfies Record<ToolName, ToolEffect>;

/** True where a step may say what a second call would mean. */
export function mayDeclareEffect(tool: ToolName): boolean {
  return toolEffects[tool].declarable;
}

/** The effect of this very call: as declared, else by its method (HTTP's GET and HEAD read), else by the table. */
export function effectOf(
  tool: ToolName,
  input: Readonly<Record<string, unknown>> = {},
  declared: Effect | null = null,
): Effect {
  const { effect, declarable } = toolEffects[tool];
  if (declarable && declared !== null) return declared;
  if (tool !== "http") return effect;
  const method = input.method ?? (input.body === undefined ? "GET" : "POST");
  return method === "GET" || method === "HEAD" ? "read" : effect;
}
