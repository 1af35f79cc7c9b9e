// What one turn uses of its model, where that has a price. A later attempt takes recorded calls again: it counts them anew.

import type { ModelConfig } from "../../../config/config.ts";
import { costOf } from "../../core/model-price.ts";
import { noteUsed } from "../../db/spending.ts";
import type { JobContext } from "../handler.ts";

interface Tokens {
  readonly input: number;
  readonly output: number;
}

export function createUsedTokens(model: ModelConfig | null) {
  let tokens: Tokens = { input: 0, output: 0 };
  return {
    add(call: Tokens): void {
      tokens = { input: tokens.input + call.input, output: tokens.output + call.output };
    },
    /** Before the turn ends. That it fails ends no answer. */
    async note(context: JobContext): Promise<void> {
      if (model?.price === undefined || tokens.input + tokens.output === 0) return;
      const used = { inputTokens: tokens.input, outputTokens: tokens.output, cost: costOf(tokens, model.price) };
      await noteUsed(context.db, context, used).catch((error: unknown) =>
        context.log.warn({ err: error }, "what the turn used could not be noted"),
      );
    },
  };
}
