// Hashing of passwords, which takes half a second and 128 MiB each. Invariant: in this process few at once and few in
// line, whoever asks; past that it is refused at once, so that it cannot be made to stand still.

import { failure } from "../core/wire/errors.ts";
import { hashPassword, isPassword } from "../db/passwords.ts";

export interface PasswordWork {
  /** Throws `session.busy` (503). */
  hash(password: string): Promise<string>;
  /** Throws `session.busy` (503). */
  isRight(password: string, hash: string): Promise<boolean>;
}

export function createPasswordWork(bounds = { atOnce: 2, inLine: 16 }): PasswordWork {
  const line: (() => void)[] = [];
  let running = 0;

  async function within<T>(work: () => Promise<T>): Promise<T> {
    if (running < bounds.atOnce) running += 1;
    else if (line.length < bounds.inLine) await new Promise<void>((resolve) => line.push(resolve));
    else throw failure("session.busy");
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return {
    hash: (password) => within(() => hashPassword(password)),
    isRight: (password, hash) => within(() => isPassword(password, hash)),
  };
}
