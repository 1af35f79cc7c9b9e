// What one account may have at once (`limits` of owl.yaml), and how it is told that it has it.
// Invariant: what entered a gate leaves it, once.

import type { AccountLimits } from "../../config/config.ts";
import { OwlError } from "../../config/errors.ts";

type LimitKind = Exclude<keyof AccountLimits, "statements" | "statementsPerMinute">;

const SENTENCES: Readonly<Record<LimitKind, readonly [sentence: (limit: number) => string, next: string]>> = {
  turns: [
    (limit) => `You have ${limit} questions waiting or running already.`,
    "Wait for an answer, or stop one of them.",
  ],
  uploads: [(limit) => `You have ${limit} uploads that are not complete.`, "Complete or delete one of them."],
  uploadBytes: [
    (limit) => `Your uploads that are not complete would have more than ${limit} bytes.`,
    "Complete or delete one of them.",
  ],
  attachments: [
    (limit) => `You have ${limit} attached files that were not sent.`,
    "Send or remove one of them; after a day they are deleted.",
  ],
  eventStreams: [(limit) => `You have ${limit} event streams open already.`, "Close a window."],
  storedBytes: [
    (limit) => `Your recordings and files would have more than ${limit} bytes.`,
    "Delete recordings or conversations that are no longer needed.",
  ],
  searches: [(limit) => `${limit} of your searches are under way.`, "Wait until one has ended."],
};

/** `limit.turns` and so on: 413 for bytes, else 429. */
function limitReached(kind: LimitKind, limit: number): OwlError {
  const [sentence, next] = SENTENCES[kind];
  return new OwlError(`limit.${kind}`, sentence(limit), { next, data: { limit, retryAfterS: 5 } });
}

interface AccountGate {
  /** Takes a place; the answer gives it back. Throws `limit.…` when the account has them all. */
  enter(accountId: string): () => void;
  /** Runs `work` in a place of its own. */
  within<T>(accountId: string, work: () => Promise<T>): Promise<T>;
}

/** Places of one kind in this process, `most` for each account. */
export function createAccountGate(kind: LimitKind, most: number): AccountGate {
  const held = new Map<string, number>();
  function enter(accountId: string): () => void {
    const now = held.get(accountId) ?? 0;
    if (now >= most) throw limitReached(kind, most);
    held.set(accountId, now + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const rest = (held.get(accountId) ?? 1) - 1;
      if (rest === 0) held.delete(accountId);
      else held.set(accountId, rest);
    };
  }
  return {
    enter,
    async within(accountId, work) {
      const leave = enter(accountId);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
