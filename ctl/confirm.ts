// A yes before something that is hard to undo. Without a terminal to ask on, only --yes is a yes.

import { createInterface } from "node:readline/promises";
import { OwlError } from "../config/errors.ts";
import type { CommandDeps } from "./deps.ts";

/** True when a person at the terminal said yes. Throws `usage.confirm` where nobody can be asked. */
export async function confirmed(question: string, { text, signal }: CommandDeps): Promise<boolean> {
  if (process.stdin.isTTY !== true)
    throw new OwlError("usage.confirm", text.confirm.nobody, { next: text.confirm.nobodyNext });
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question(`${question} ${text.confirm.choices} `, { signal });
    return /^(y|yes|ㅛ|예|네)$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}
