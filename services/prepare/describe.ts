// Prints what a release's manifest says of the application: its job kinds and its queue's schema. Reads nothing, writes nothing.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { JOB_KINDS } from "../../config/config.ts";
import { jobKindRow } from "../core/job-kinds.ts";

const hash = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

const jobKinds = Object.fromEntries(
  JOB_KINDS.map((kind) => {
    const row = jobKindRow(kind);
    // The name goes into the hash: an argument that moves to another kind is another argument.
    return [kind, { format: row.format, argument: hash([kind, row.argument]) }];
  }),
);
// The schema number of the queue library in use: read from its package, since that is what its start compares with.
const library = fileURLToPath(import.meta.resolve("pg-boss/package.json"));
const { pgboss } = JSON.parse(readFileSync(library, "utf8")) as { readonly pgboss: { readonly schema: number } };
process.stdout.write(`${JSON.stringify({ jobKinds, queueSchema: pgboss.schema })}\n`);
