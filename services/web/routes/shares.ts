// Read-only links to conversations: made, listed and ended by their owner; read by whoever has one. Invariants: a token is
// told once and is in no address that is sent (the page has it behind #), so that no log holds it; what the installation
// does not allow (any more) is not shown.

import { createHash, randomBytes } from "node:crypto";
import { turnsQuery } from "../../core/wire/conversation.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import { newShare, sharedConversation, shareMade, shares, sharesQuery } from "../../core/wire/share.ts";
import { recordAudit } from "../../db/audit.ts";
import { deleteShare, findShare, insertShare, listShares } from "../../db/shares.ts";
import { listTurns } from "../../db/turns.ts";
import { lockUsage } from "../../db/usage.ts";
import type { Routes } from "../deps.ts";
import { accountOf, checkFirstPassword, identify } from "../sessions.ts";
import { createWaitingLine } from "../waiting-line.ts";
import { beforeOf, cursorOf, readPage } from "./paging.ts";
import { turnJson } from "./turns.ts";

const tags = ["conversations"];
const LINKS_AN_ACCOUNT = 100;
const DAY_MS = 86_400_000;
/** Reads by links at once, in this process: whoever has one is nobody we know. */
const READS = { atOnce: 2, inLine: 100 };

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

export const shareRoutes: Routes = (app, deps) => {
  const { links } = deps.config.chat;
  const reads = createWaitingLine(READS, () => failure("limit.requests", {}, { data: { retryAfterS: 1 } }));

  app.post(
    "/api/conversations/:id/shares",
    {
      schema: {
        summary: "Make a read-only link to a conversation as it stands now",
        tags,
        params: withId,
        body: newShare,
        response: { 201: shareMade },
      },
    },
    async (request) => {
      const account = accountOf(request);
      const { days, forAnyone = false } = request.body;
      if (links === "nobody" || (forAnyone && links !== "anyone")) throw failure("share.refused");
      const token = randomBytes(32).toString("base64url");
      const made = await deps.db.transaction(async (sql) => {
        await lockUsage(sql, account.id);
        if ((await listShares(sql, account.id, null)).length >= LINKS_AN_ACCOUNT) {
          throw failure("share.full", { limit: LINKS_AN_ACCOUNT });
        }
        const row = await insertShare(sql, {
          id: deps.random.uuid(),
          conversationId: request.params.id,
          accountId: account.id,
          tokenHash: hashOf(token),
          forAnyone,
          lifeMs: days * DAY_MS,
        });
        if (row === null) throw failure("conversation.notFound");
        await recordAudit(sql, {
          accountId: account.id,
          accountName: account.name,
          address: request.ip,
          action: "share.made",
          target: request.params.id,
          detail: { share: row.id, forAnyone, expiresAt: row.expiresAt },
        });
        return row;
      });
      return { ...made, token };
    },
  );

  app.get(
    "/api/shares",
    {
      schema: {
        summary: "One's read-only links, all or those of one conversation",
        tags,
        querystring: sharesQuery,
        response: { 200: shares },
      },
    },
    async (request) => ({
      links,
      items: await listShares(deps.db, accountOf(request).id, request.query.conversationId ?? null),
    }),
  );

  app.delete(
    "/api/shares/:id",
    { schema: { summary: "End a read-only link", tags, params: withId, response: { 204: nothing } } },
    async (request) => {
      const account = accountOf(request);
      await deps.db.transaction(async (sql) => {
        const target = await deleteShare(sql, request.params.id, account.id);
        if (target === null) throw failure("share.notFound");
        await recordAudit(sql, {
          accountId: account.id,
          accountName: account.name,
          address: request.ip,
          action: "share.ended",
          target,
          detail: { share: request.params.id },
        });
      });
    },
  );

  app.get(
    "/api/shared",
    {
      config: { access: "public" },
      schema: {
        summary: "The conversation of a read-only link (header `owl-share`)",
        tags,
        security: [],
        querystring: turnsQuery,
        response: { 200: sharedConversation },
      },
    },
    (request, reply) =>
      reads.within(async () => {
        const token = String(request.headers["owl-share"] ?? "");
        const found = /^[\w-]{43}$/.test(token) ? await findShare(deps.aside, hashOf(token)) : null;
        if (found === null || links === "nobody") throw failure("share.notFound");
        if (!found.forAnyone || links !== "anyone") {
          await identify(deps, request, reply);
          accountOf(request);
          checkFirstPassword(request);
        }
        const { limit, after } = readPage({ limit: request.query.limit, next: request.query.before });
        const page = { conversationId: found.conversationId, leaf: found.leafId, before: beforeOf(after), limit };
        const { turns, hasMore } = await listTurns(deps.aside, page);
        const oldest = turns.at(-1);
        // Other versions, what its owner is asked, and thinks, are the owner's own.
        const shown = turns
          .toReversed()
          .map((row) => ({ ...turnJson(row, null), versions: [], waitsFor: [], feedback: null }));
        const { title, by, forAnyone, expiresAt } = found;
        const earlier = hasMore && oldest ? cursorOf(oldest.cursor, oldest.id) : null;
        return { title, by, forAnyone, expiresAt, turns: shown, earlier };
      }),
  );
};
