// The transcript tool: looks for words in the account's own transcriptions.

import { z } from "zod";
import type { Sql } from "../db/pool.ts";
import type { Tool } from "./tool.ts";

const input = z.object({ words: z.string().min(1).max(200).describe("Words to look for, all of them") });

/** `search_transcripts` */
export function createSearchTranscripts(db: Sql): Tool<z.infer<typeof input>> {
  return {
    name: "search_transcripts",
    description: "Searches the user's transcribed recordings for segments that hold all the given words.",
    input,
    async run({ words }, { accountId }) {
      const patterns = words
        .split(/\s+/)
        .filter(Boolean)
        .map((word) => `%${word.replace(/[\\%_]/g, "\\$&")}%`);
      const { rows } = await db.query<{ recording: string; at: string; text: string }>(
        `SELECT t.name AS recording, to_char(make_interval(secs => s.start_ms / 1000.0), 'HH24:MI:SS') AS at, s.text
           FROM owl.segment s JOIN owl.transcription t ON t.id = s.transcription_id
          WHERE t.account_id = $1 AND s.text ILIKE ALL ($2::text[])
          ORDER BY t.created_at DESC, s.n LIMIT 20`,
        [accountId, patterns],
      );
      const columns = ["recording", "at", "text"];
      const table = { columns, rows: rows.map((row) => [row.recording, row.at, row.text]) };
      return { value: table, rows: rows.length, table };
    },
  };
}
