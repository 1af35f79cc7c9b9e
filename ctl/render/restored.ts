// What a restore, or a promotion, brought back.

import type { CommandDeps } from "../deps.ts";
import { elapsed } from "./figures.ts";

export interface Restored {
  readonly backup: string;
  readonly home: string;
  readonly until: string | null;
  readonly uploads: { readonly complete: number; readonly missing: readonly string[] };
  readonly config: { readonly file: string; readonly inPlace: boolean } | null;
  readonly elapsedMs: number;
}

export function showRestored(
  restored: Restored,
  options: { readonly json?: boolean },
  { terminal, text }: Pick<CommandDeps, "terminal" | "text">,
): void {
  const t = text.commands.restore;
  if (options.json) {
    terminal.out(JSON.stringify(restored));
    return;
  }
  terminal.out(t.done(restored.backup, restored.home, elapsed(restored.elapsedMs)));
  if (restored.until !== null) terminal.out(t.until(restored.until));
  terminal.out(t.uploads(restored.uploads.complete, restored.uploads.missing.length));
  const { config } = restored;
  if (config !== null) terminal.out(config.inPlace ? t.configIn(config.file) : t.configBeside(config.file));
  terminal.out(t.next);
}
