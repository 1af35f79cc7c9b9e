// Names for chats by their models, beside the turns. Invariants: a chat is named after its first answer, once, and holds
// no place of the worker meanwhile; no turn waits for it or fails by it; whatever goes wrong, the question stays the title.

import type { Logger } from "pino";
import type { ModelConfig } from "../../../config/config.ts";
import { asError } from "../../../config/errors.ts";
import type { Clock } from "../../../config/time.ts";
import { costOf } from "../../core/model-price.ts";
import type { Database } from "../../db/pool.ts";
import { addSpending } from "../../db/spending.ts";
import { findUntitled, giveTitle } from "../../db/titles.ts";
import type { Text } from "../../text/text.ts";

export interface Titles {
  /** The turn has been answered by that model: if it was a chat's first one, the chat is named. */
  offer(turnId: string, model: ModelConfig): void;
  /** Gives up what is under way. */
  stop(): Promise<void>;
}

interface TitlesDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly text: Text;
}

/** More at once are not asked for: those chats keep their question. */
const MOST_AT_ONCE = 4;
const LONGEST_MS = 20_000;

export function createTitles({ db, clock, log, text }: TitlesDeps): Titles {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  async function name(turnId: string, model: ModelConfig): Promise<void> {
    const chat = await findUntitled(db, turnId);
    if (chat === null) return;
    const over = new AbortController();
    const leave = clock.after(LONGEST_MS, () => over.abort(new Error("The model took too long for a title.")));
    try {
      const { askTitle } = await import("../../model/title.ts");
      const { title, tokens } = await askTitle(
        model,
        chat,
        text("model.title"),
        AbortSignal.any([over.signal, stopping.signal]),
      );
      if (model.price !== undefined && tokens.input + tokens.output > 0) {
        const used = { inputTokens: tokens.input, outputTokens: tokens.output, cost: costOf(tokens, model.price) };
        await addSpending(db, chat.accountId, used);
      }
      if (title !== null) await giveTitle(db, turnId, title);
    } finally {
      leave();
    }
  }

  return {
    offer(turnId, model) {
      if (stopping.signal.aborted || running.size >= MOST_AT_ONCE) return;
      const named = name(turnId, model)
        .catch((error: unknown) => {
          if (!stopping.signal.aborted) log.warn({ err: asError(error), turn: turnId }, "a chat could not be named");
        })
        .finally(() => running.delete(named));
      running.add(named);
    },
    async stop() {
      stopping.abort(new Error("The worker stops."));
      await Promise.allSettled(running);
    },
  };
}
