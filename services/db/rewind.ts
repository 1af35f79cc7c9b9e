// Taking back text of an answer that was told and stands on nothing: what another attempt says instead follows.
// Invariants: fenced by attempt and state; repeatable; the stored deltas are always the answer's text, byte for byte, and
// whoever reads the events in order, dropping text by each `rewind`, has the same.

import type { Database } from "./pool.ts";

/**
 * Keeps the first `length` UTF-16 units of the answer's text; null when the claim is lost, else the last event's number.
 * The `rewind` event says after which event, and after how much text, what was told no longer holds.
 */
export async function rewindTurn(
  db: Pick<Database, "transaction">,
  turn: { readonly id: string; readonly attempt: number },
  length: number,
): Promise<number | null> {
  return db.transaction(async (sql) => {
    const { rowCount } = await sql.query(
      "SELECT 1 FROM owl.turn WHERE id = $1 AND attempt = $2 AND state = 'running' FOR UPDATE",
      [turn.id, turn.attempt],
    );
    if (rowCount !== 1) return null;
    const { rows } = await sql.query<{ seq: number; kind: string; text: string | null }>(
      `SELECT seq, kind, data->>'text' AS text FROM owl.turn_event WHERE turn_id = $1 ORDER BY seq`,
      [turn.id],
    );
    const last = rows.at(-1)?.seq ?? 0;
    let kept = 0;
    let gone: { readonly seq: number; readonly part: string } | null = null;
    for (const { seq, kind, text } of rows) {
      if (kind !== "delta" || text === null) continue;
      if (kept + text.length > length) {
        gone = { seq, part: text.slice(0, length - kept) };
        break;
      }
      kept += text.length;
    }
    if (gone === null) return last;
    await sql.query("DELETE FROM owl.turn_event WHERE turn_id = $1 AND kind = 'delta' AND seq >= $2", [
      turn.id,
      gone.seq,
    ]);
    const before = rows.findLast((row) => row.seq < (gone?.seq ?? 0))?.seq ?? 0;
    const events = [
      { kind: "rewind", data: { seq: before, length: kept } },
      ...(gone.part === "" ? [] : [{ kind: "delta", data: { text: gone.part } }]),
    ];
    for (const [index, event] of events.entries()) {
      await sql.query("INSERT INTO owl.turn_event (turn_id, seq, kind, data) VALUES ($1, $2, $3, $4::jsonb)", [
        turn.id,
        last + 1 + index,
        event.kind,
        JSON.stringify(event.data),
      ]);
    }
    await sql.query("SELECT pg_notify('owl_turn', $1)", [turn.id]);
    return last + events.length;
  });
}
