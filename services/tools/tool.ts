// What a chat tool is: a name, an input schema, and one call. What a second call would mean is told by its name
// (core/tool-effects.ts). Invariant: a tool obeys its signal.

import type { z } from "zod";
import type { ToolName } from "../core/tool-effects.ts";

interface ToolCall {
  readonly signal: AbortSignal;
  /** Names this very call for another side, the same over all attempts: its Idempotency-Key. */
  readonly key: string;
  /** Whose question it is: tools see what that account may see. */
  readonly accountId: string;
}

export interface ToolOutput {
  /** What the model (or the built-in responder) gets. */
  readonly value: unknown;
  /** Rows found, for the display; null where it means nothing. */
  readonly rows: number | null;
  /** A table to show under the call; null: nothing. */
  readonly table: { readonly columns: readonly string[]; readonly rows: readonly (readonly unknown[])[] } | null;
}

export interface Tool<Input = unknown> {
  readonly name: ToolName;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Throws OwlError for what the caller can be told, or the signal's reason. */
  run(input: Input, call: ToolCall): Promise<ToolOutput>;
}
