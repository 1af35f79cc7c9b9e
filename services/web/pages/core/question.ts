// What may be asked: the text of a question as it is sent. Pure.

/** As the server has it (core/wire/turn.ts). */
export const QUESTION_LIMIT = 100_000;

/** What is sent for what was typed; "" when there is nothing in it that anybody could read. */
export function questionOf(typed: string): string {
  // Neither can be stored, and nobody typed them on purpose.
  const text = typed.replaceAll("\u0000", "").toWellFormed().trim();
  return /[^\s\p{Cc}\p{Cf}]/u.test(text) ? text : "";
}

/** Does a text pasted into `draft` (in place of `replaced` characters) find no room in a question? */
export function isTooLong(draft: number, replaced: number, pasted: number): boolean {
  return draft - replaced + pasted > QUESTION_LIMIT;
}
