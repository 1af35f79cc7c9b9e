// A staged release's own preflight, run by the owld it is to replace: the whole of it, with this code's configuration
// rules, checks and migrations, against the running database. Reads only.
// What only the running owld knows comes as JSON in OWL_PREFLIGHT; the lines go to standard output as one JSON array.
// Exit codes: 0 judged (whatever the verdicts); 78 this code refuses the configuration; 1 it could not judge.

import { EXIT } from "../../config/control-api.ts";
import { asError, OwlError } from "../../config/errors.ts";
import { CODE_ROOT, loadConfig } from "../../config/load.ts";
import { systemClock } from "../../config/system-time.ts";
import { textOf } from "../core/text/text.ts";
import { RELEASE_PREFLIGHT_ENV, type ReleasePreflight } from "../release/check.ts";
import { createPreflight } from "./preflight.ts";

try {
  const given = JSON.parse(process.env[RELEASE_PREFLIGHT_ENV] ?? "null") as ReleasePreflight | null;
  delete process.env[RELEASE_PREFLIGHT_ENV];
  if (given === null)
    throw new OwlError("usage", "This is run by owld while it updates.", { next: "Try: owlctl preflight" });
  const environment = { ...process.env };
  const { cwd } = given;
  const config = loadConfig({ file: given.file, env: environment, cwd });
  const preflight = createPreflight({
    clock: systemClock,
    config: () => config,
    databaseUrl: () => given.databaseUrl,
    ownPids: () => new Set(given.ownPids),
    largestInstanceBytes: () => given.largestInstanceBytes,
    environment,
    cwd,
    codeRoot: CODE_ROOT,
  });
  process.stdout.write(`${JSON.stringify(await preflight.run(given.language && textOf(given.language)))}\n`);
} catch (caught) {
  const error = asError(caught);
  process.stderr.write(`${error.message}\n${error instanceof OwlError && error.next ? `${error.next}\n` : ""}`);
  process.exitCode = error instanceof OwlError && error.code === "config.invalid" ? EXIT.config : EXIT.failed;
}
