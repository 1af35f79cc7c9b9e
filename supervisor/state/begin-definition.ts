// The configuration an owld begins with: the file's, or the one that was in force where the file's was refused or
// nobody has asked to read it yet.

import type { Config } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import { homePaths } from "../../config/home.ts";
import { CODE_ROOT, type LoadRequest, readConfigText } from "../../config/load.ts";
import { locateHome } from "../../config/locate.ts";
import { withReleases } from "../core/own-release.ts";
import { createProcReader } from "../process/proc-identity.ts";
import { type DefinitionRecord, type DefinitionText, keepsInForce, readDefinition } from "./definition.ts";

/** Throws `config.invalid` when there is nothing else to begin with than a file that is not valid. */
export function beginDefinition(
  request: LoadRequest,
  loadText: (root?: string, source?: DefinitionText) => Config,
): { readonly config: Config; readonly definition: DefinitionRecord } {
  const { bootId } = createProcReader();
  let text: DefinitionText | undefined;
  let unreadable: Error | null = null;
  try {
    text = readConfigText(request);
  } catch (error) {
    unreadable = asError(error);
  }
  const { state, ownReleases } = homePaths(locateHome(request.env, request.cwd));
  const kept = readDefinition(state);
  const { releases = {}, earlier = {}, trial = null } = kept ?? {};
  // What just stood may still be gone back from.
  const before = text !== undefined && text === kept?.inForce ? (kept.before ?? null) : null;
  const load = (source: DefinitionText): Config => withReleases(loadText(CODE_ROOT, source), releases, ownReleases);
  const refused = keepsInForce(text, kept, bootId);
  if (kept !== null && refused !== null) {
    try {
      return { config: load(kept.inForce), definition: { ...kept, bootId, refused } };
    } catch {
      // What it refers to is gone: then the file is all there is.
    }
  }
  if (text === undefined) throw unreadable ?? new Error("owl.yaml cannot be read");
  const config = load(text);
  return { config, definition: { inForce: text, bootId, releases, earlier, trial, before, refused: null } };
}
