// owld's own command line: `--config FILE`, `--help`, `--version`. Nothing is looked up or changed by reading it.

import { parseArgs } from "node:util";
import { asError, OwlError } from "../../config/errors.ts";

type Arguments =
  | { readonly kind: "run"; readonly config: string | null }
  | { readonly kind: "help" }
  | { readonly kind: "version" };

export const USAGE = `Usage: owld [--config FILE]

Runs in the foreground and logs to standard error. Without --config: OWL_CONFIG, then ./owl.yaml.
OWL_HOME is its state directory (default: .owl here). Ask it with owlctl.
`;

/** Throws \`usage\` for anything it does not know. */
export function readArguments(argv: readonly string[]): Arguments {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        config: { type: "string", short: "c" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean" },
      },
    });
    if (values.help) return { kind: "help" };
    if (values.version) return { kind: "version" };
    return { kind: "run", config: values.config ?? null };
  } catch (error) {
    throw new OwlError("usage", asError(error).message.split("\n")[0] ?? "Wrong use.", { next: "See: owld --help" });
  }
}
