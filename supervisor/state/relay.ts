// Lets what is built first call what is built later: connected once, before anything runs.
// Invariant: who needs an answer before that meets a fault of the wiring; a mere knock goes unheard.

import { invariant } from "../../config/errors.ts";

interface Relay<Target extends object> {
  /** From now on it is this that is reached. */
  connect(target: Target): void;
  reach(): Target;
  /** null: not connected yet. */
  connected(): Target | null;
}

export function createRelay<Target extends object>(name: string): Relay<Target> {
  let target: Target | null = null;
  return {
    connect(to) {
      invariant(target === null, `${name} is connected once`);
      target = to;
    },
    reach() {
      invariant(target !== null, `${name} is connected before it is reached`);
      return target;
    },
    connected: () => target,
  };
}
