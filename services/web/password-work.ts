// Hashing of passwords, which takes half a second and 128 MiB each. Invariant: in this process few at once and few in
// line, whoever asks; past that it is refused at once, so that it cannot be made to stand still.

import { failure } from "../core/wire/errors.ts";
import { hashPassword, isPassword } from "../db/passwords.ts";
import { createWaitingLine } from "./waiting-line.ts";

export interface PasswordWork {
  /** Throws `session.busy` (503). */
  hash(password: string): Promise<string>;
  /** Throws `session.busy` (503). */
  isRight(password: string, hash: string): Promise<boolean>;
}

export function createPasswordWork(bounds = { atOnce: 2, inLine: 16 }): PasswordWork {
  const line = createWaitingLine(bounds, () => failure("session.busy"));
  return {
    hash: (password) => line.within(() => hashPassword(password)),
    isRight: (password, hash) => line.within(() => isPassword(password, hash)),
  };
}
