// The replication slot by which PostgreSQL keeps its log until the backup directory has it, and the bound of that.
// Invariant: without backups there is no slot, so that nothing is kept for nobody.

import { Client } from "pg";
import { Refusal } from "../../core/text/refusal.ts";

export const SLOT = "owl_backup";
/** So much of its log PostgreSQL keeps for us while the directory is away; then a new backup begins. */
const KEPT_LOG = "4GB";

async function asAdmin<T>(adminUrl: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: adminUrl, application_name: "owl/backup", query_timeout: 10_000 });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** While the directory is away the log must not fill the disk of what runs. Throws `backup.oldServer`. */
export async function boundKeptLog(adminUrl: string): Promise<void> {
  await asAdmin(adminUrl, async (client) => {
    const { rows } = await client.query<{ number: number; kept: string }>(
      "SELECT current_setting('server_version_num')::int AS number, current_setting('max_slot_wal_keep_size') AS kept",
    );
    const { number = 0, kept } = rows[0] ?? {};
    const major = String(Math.floor(number / 10_000));
    if (number < 150_000) throw new Refusal("backup.oldServer", ({ refused }) => refused.backup.oldServer(major));
    if (kept !== "-1") return;
    await client.query(`ALTER SYSTEM SET max_slot_wal_keep_size = '${KEPT_LOG}'`);
    await client.query("SELECT pg_reload_conf()");
  });
}

/** Backups are off: the log is nobody's to wait for, nor is whoever of ours still reads it. */
export async function dropSlot(adminUrl: string): Promise<void> {
  await asAdmin(adminUrl, async (client) => {
    await client.query("SELECT pg_terminate_backend(active_pid, 5000) FROM pg_replication_slots WHERE slot_name = $1", [
      SLOT,
    ]);
    await client.query(
      "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1 AND NOT active",
      [SLOT],
    );
  });
}
