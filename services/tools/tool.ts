// What a chat tool is: a name, an input schema, and one call. Invariant: a tool only reads, and obeys its signal.

import type { z } from "zod";

interface ToolCall {
  readonly signal: AbortSignal;
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
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Throws OwlError for what the caller can be told, or the signal's reason. */
  run(input: Input, call: ToolCall): Promise<ToolOutput>;
}
