// The account streams of one web process: each browser's one stream of all its turns and long work.
// Invariants: a notification costs one owner lookup per row and wakes that owner's streams only; a stream carries every
// event of a turn once and in order, from its cursor on; after a break everything is looked up, not remembered.

import type { Logger } from "pino";
import { findOwner, listFeedEvents, listLiveTurns } from "../db/account-feed.ts";
import type { Listener } from "../db/listen.ts";
import type { Database } from "../db/pool.ts";
import type { EventStreams, StreamEvent, StreamSource } from "./event-stream.ts";

interface AccountFeeds {
  /** A source for one stream of that account; `close` when the stream is over. */
  open(accountId: string, isStillAllowed: () => Promise<boolean>): StreamSource & { close(): void };
}

interface AccountFeedsDeps {
  readonly db: Database;
  readonly listener: Listener;
  readonly streams: EventStreams;
  readonly log: Logger;
}

/** Owners remembered; a turn's owner never changes. */
const OWNERS_KEPT = 10_000;
/** As many events are read at a time (listFeedEvents). */
const MOST_ROWS = 2_000;
/** Ended turns remembered by one stream. */
const OVER_KEPT = 500;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Feed {
  readonly turns: Set<string>;
  readonly changed: Set<string>;
}

export function createAccountFeeds(deps: AccountFeedsDeps): AccountFeeds {
  const { db, listener, streams } = deps;
  const byAccount = new Map<string, Set<Feed>>();
  const owners = new Map<string, Promise<string | null>>();

  function ownerOf(table: string, id: string): Promise<string | null> {
    const key = `${table}:${id}`;
    const known = owners.get(key);
    if (known) return known;
    const asked = findOwner(db, table, id).then(
      (owner) => {
        // Not there yet, or not any more: asked again at the next notification.
        if (owner === null) owners.delete(key);
        return owner;
      },
      () => {
        owners.delete(key);
        return null;
      },
    );
    owners.set(key, asked);
    if (owners.size > OWNERS_KEPT) owners.delete(owners.keys().next().value ?? "");
    return asked;
  }

  async function note(table: string, id: string): Promise<void> {
    if (byAccount.size === 0 || !UUID.test(id)) return;
    const owner = await ownerOf(table, id);
    const feeds = owner === null ? undefined : byAccount.get(owner);
    if (!feeds) return;
    for (const feed of feeds) {
      if (table === "turn") feed.turns.add(id);
      else feed.changed.add(`${table}:${id}`);
    }
    streams.wake("owl_observe", `account:${owner}`);
  }

  listener.on("owl_turn", (id) => void note("turn", id));
  listener.on("owl_observe", (payload) => {
    const [table = "", id = ""] = payload.split(":");
    void note(table, id);
  });

  return {
    open(accountId, isStillAllowed) {
      const feed: Feed = { turns: new Set(), changed: new Set() };
      const feeds = byAccount.get(accountId) ?? new Set();
      byAccount.set(accountId, feeds.add(feed));
      let cursor: Map<string, number> | null = null;
      /** The server's time of the first look: what had ended by then is told from the cursor alone. */
      let begunAt = "";
      // Told to their end: a notification that comes late (the last one is sent after the end) begins none of them anew.
      const over = new Set<string>();
      /** Named by a notification, and nothing of it told yet. */
      const fresh = new Set<string>();
      let more = false;

      async function read(lastId: string): Promise<{ events: readonly StreamEvent[]; done: boolean; more?: boolean }> {
        const events: StreamEvent[] = [];
        const isFirst = cursor === null;
        const after = cursor ?? parseCursor(lastId);
        // Nothing was noted: the listener came back, or it is time to look after everything again.
        const lookAll = !more && !isFirst && feed.turns.size === 0 && feed.changed.size === 0;
        const changed = [...feed.changed];
        feed.changed.clear();
        for (const id of feed.turns) if (!after.has(id) && !over.has(id)) fresh.add(id);
        feed.turns.clear();
        // Before the events are read: whatever is not live has its end among them.
        const live = isFirst ? await listLiveTurns(db, accountId) : null;
        if (live !== null) begunAt = live.at;
        for (const id of fresh) if (!after.has(id)) after.set(id, 0);
        if (lookAll) {
          if (!(await isStillAllowed())) return { events, done: true };
          for (const { turnId } of (await listLiveTurns(db, accountId)).turns)
            if (!after.has(turnId)) after.set(turnId, 0);
        }
        const rows = after.size === 0 ? [] : await listFeedEvents(db, accountId, after, [...fresh], begunAt);
        cursor = after;
        for (const row of rows) {
          fresh.delete(row.turnId);
          if (row.kind === "end") {
            after.delete(row.turnId);
            over.add(row.turnId);
            if (over.size > OVER_KEPT) over.delete(over.values().next().value ?? "");
          } else after.set(row.turnId, row.seq);
          events.push({
            id: printCursor(after),
            event: row.kind,
            data: { turnId: row.turnId, conversationId: row.conversationId, seq: row.seq, ...row.data },
          });
        }
        more = rows.length === MOST_ROWS;
        if (!more) {
          // Ended before this stream began, or deleted: there is nothing to follow.
          for (const id of fresh) after.delete(id);
          fresh.clear();
        }
        if (live !== null) {
          // Of what the browser had followed: ended and told before, or deleted.
          const followed = new Set([...live.turns, ...rows].map(({ turnId }) => turnId));
          if (!more) for (const id of after.keys()) if (!followed.has(id)) after.delete(id);
          const turns = live.turns
            .filter(({ turnId }) => !over.has(turnId))
            .map((turn) => ({ ...turn, seq: Math.max(turn.seq, after.get(turn.turnId) ?? 0) }));
          for (const { turnId, seq } of turns) if (!after.has(turnId)) after.set(turnId, seq);
          events.push({ id: printCursor(after), event: "hello", data: { turns } });
        }
        for (const mark of changed) {
          const [what, id] = mark.split(":");
          events.push({ event: "changed", data: { what, id } });
        }
        return { events, done: false, more };
      }

      return {
        channel: "owl_observe",
        payload: `account:${accountId}`,
        read,
        close() {
          feeds.delete(feed);
          if (feeds.size === 0) byAccount.delete(accountId);
        },
      };
    },
  };
}

/** `TURN:SEQ` of each followed turn; "-" for none, so that a browser keeps it as an id. */
function printCursor(cursor: ReadonlyMap<string, number>): string {
  return cursor.size === 0 ? "-" : [...cursor].map(([id, seq]) => `${id}:${seq}`).join(",");
}

/** What a returning browser had; parts that are none of ours are left out. */
function parseCursor(text: string): Map<string, number> {
  const cursor = new Map<string, number>();
  for (const part of text.split(",").slice(0, 500)) {
    const [id = "", seq = ""] = part.split(":");
    if (UUID.test(id) && /^\d{1,9}$/.test(seq)) cursor.set(id, Number(seq));
  }
  return cursor;
}
