// The configuration everything goes by at this moment, and the code its bundled services run from.

import type { Config } from "../../config/config.ts";

interface ConfigInForce {
  now(): Config;
  use(config: Config): void;
  /** The bundled services run from the code at `root` from now on. `load` may throw `config.invalid`. */
  useCode(root: string, load: (root: string) => Config): void;
}

export function createConfigInForce(first: Config, firstRoot: string): ConfigInForce {
  let config = first;
  let root = firstRoot;
  return {
    now: () => config,
    use(next) {
      config = next;
    },
    useCode(next, load) {
      if (next !== root) config = load(next);
      root = next;
    },
  };
}
