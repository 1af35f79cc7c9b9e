// The configuration everything goes by at this moment, and the code its bundled services run from.

import type { Config } from "../../config/config.ts";
import { type Releases, withReleases } from "../core/own-release.ts";
import type { DefinitionText } from "./definition.ts";

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

type Loader = (text: DefinitionText, releases?: Releases, root?: string) => Config;

/** A text as a configuration: the bundled services from the code at `root`, a team's own from their releases. */
export function createLoader(
  load: (root: string, text: DefinitionText) => Config,
  ownReleases: string,
  serving: () => string,
): Loader {
  return (text, releases = {}, root = serving()) => withReleases(load(root, text), releases, ownReleases);
}
