// One-shot migration for installations without owld (a cluster's Job): reads the metastore's URL from OWL_APP_CONFIG,
// migrates, exits 0; 1 with one sentence otherwise. Runs before any process of the new release, so it may do all.

import { fileURLToPath } from "node:url";
import type { AppConfig } from "../../config/config.ts";
import { asError, OwlError } from "../../config/errors.ts";
import { INSTANCE_ENV } from "../../config/instance-env.ts";
import { migrate } from "./migrate.ts";

try {
  const text = process.env[INSTANCE_ENV.app];
  delete process.env[INSTANCE_ENV.app];
  const url = text === undefined ? null : (JSON.parse(text) as AppConfig).databaseUrl;
  if (url === null)
    throw new OwlError("migrate.url", "OWL_APP_CONFIG names no database.", {
      next: "Set database.url in owl.yaml and export again with `owlctl export kubernetes --app-config FILE`.",
    });
  const applied = await migrate(url, fileURLToPath(new URL("../../migrations", import.meta.url)), {
    allowIncompatible: true,
    say: (message) => process.stdout.write(`${message}\n`),
    signal: new AbortController().signal,
  });
  process.stdout.write(`${applied.length} migrations applied.\n`);
} catch (caught) {
  const error = asError(caught);
  process.stderr.write(`${error.message}\n${error instanceof OwlError && error.next ? `${error.next}\n` : ""}`);
  process.exitCode = 1;
}
