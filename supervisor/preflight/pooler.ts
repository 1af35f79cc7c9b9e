// Is a pooler between us and the database? Web and workers need sessions of their own: LISTEN, prepared statements,
// statement timeouts given at the start, locks of a session. Reads only.

import { Client } from "pg";
import type { DatabaseFacts } from "../core/preflight.ts";

const TRIES = 3;

/** `startup`: it refuses what our pools ask for at the start. `transaction`: one session's statements meet several servers. */
export async function findPooler(url: string, boundMs: number): Promise<DatabaseFacts["pooler"]> {
  const options = {
    connectionString: url,
    application_name: "owl/preflight",
    connectionTimeoutMillis: boundMs,
    query_timeout: boundMs,
  };
  const [one, other, ours] = [
    new Client(options),
    new Client(options),
    new Client({ ...options, statement_timeout: boundMs, idle_in_transaction_session_timeout: boundMs }),
  ];
  for (const client of [one, other, ours]) client.on("error", () => undefined);
  const pid = async (client: Client): Promise<number> =>
    (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid ?? 0;
  try {
    await Promise.all([one.connect(), other.connect()]);
    for (let n = 0; n < TRIES; n++) {
      const before = await pid(one);
      // Takes the server that was just given back, where it is given back at all.
      await other.query("BEGIN READ ONLY");
      await pid(other);
      const after = await pid(one);
      await other.query("ROLLBACK");
      if (before !== after) return "transaction";
    }
    return await ours.connect().then(
      () => null,
      (error: Error) => (/unsupported startup parameter/i.test(error.message) ? "startup" : null),
    );
  } finally {
    await Promise.allSettled([one, other, ours].map((client) => client.end()));
  }
}
