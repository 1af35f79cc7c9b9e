// Starts a managed PostgreSQL as owld would, says each step on a line, and waits to be killed.
// argv: OWL_HOME/postgres, then optionally the directory `native` of the npm package to use instead of the system's.

import { join } from "node:path";
import { systemClock, systemRandom } from "../../../config/system-time.ts";
import { createManagedPostgres } from "../../../supervisor/postgres/managed.ts";

const [base = ""] = process.argv.slice(2);
const managed = createManagedPostgres({
  clock: systemClock,
  random: systemRandom,
  config: { maxConnections: 50, settings: { shared_buffers: "16MB" }, binaries: "auto" },
  base,
  logFile: join(base, "..", "postgres.log"),
  path: process.env.PATH ?? "",
});
await managed.start((message) => console.log(message), new AbortController().signal);
console.log("up");
setInterval(() => undefined, 1_000);
