// Migrates as owld would; argv: URL, directory of migrations. Exits 0 when done.

import { migrate } from "../../../supervisor/postgres/migrate.ts";

const [url = "", dir = ""] = process.argv.slice(2);
await migrate(url, dir, {
  allowIncompatible: true,
  say: (message) => console.log(message),
  signal: new AbortController().signal,
});
