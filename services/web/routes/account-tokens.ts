// API tokens of one's own. Invariant: only a session with the present password makes one, so that neither a token nor a
// browser left open begets another.

import { failure } from "../../core/wire/errors.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import { MOST_TOKENS, newToken, tokenMade, tokens } from "../../core/wire/token.ts";
import { deleteApiToken, insertApiToken, listApiTokens } from "../../db/api-tokens.ts";
import { recordAudit } from "../../db/audit.ts";
import { makeToken } from "../api-tokens.ts";
import type { Routes } from "../deps.ts";
import { checkOwnPassword } from "../own-password.ts";
import { accountOf } from "../sessions.ts";

const tags = ["session"];

export const accountTokenRoutes: Routes = (app, deps) => {
  app.get(
    "/api/account/tokens",
    { schema: { summary: "One's API tokens, newest first", tags, response: { 200: tokens } } },
    async (request) => ({ items: [...(await listApiTokens(deps.db, accountOf(request).id))] }),
  );

  app.post(
    "/api/account/tokens",
    {
      schema: {
        summary: "Make an API token: shown once, sent as `Authorization: Bearer`",
        tags,
        body: newToken,
        response: { 201: tokenMade },
      },
    },
    async (request) => {
      const account = accountOf(request);
      const { name, expiresInDays: days, password } = request.body;
      const scopes = [...new Set(request.body.scopes)];
      await checkOwnPassword(deps, account, password);
      const id = deps.random.uuid();
      const { token, prefix, hash } = makeToken();
      const expiresAt = await deps.db.transaction(async (sql) => {
        const wanted = { id, accountId: account.id, name: name.trim(), prefix, hash, scopes, days, most: MOST_TOKENS };
        const expiry = await insertApiToken(sql, wanted);
        if (expiry === null) throw failure("limit.tokens", { limit: MOST_TOKENS });
        await recordAudit(sql, {
          accountId: account.id,
          accountName: account.name,
          address: request.ip,
          action: "token.made",
          target: prefix,
          detail: { name: name.trim(), scopes, days },
        });
        return expiry;
      });
      return { id, token, prefix, expiresAt };
    },
  );

  app.delete(
    "/api/account/tokens/:id",
    { schema: { summary: "Revoke an API token", tags, params: withId, response: { 204: nothing } } },
    async (request) => {
      const account = accountOf(request);
      await deps.db.transaction(async (sql) => {
        const gone = await deleteApiToken(sql, request.params.id, account.id);
        if (gone === null) throw failure("token.notFound");
        await recordAudit(sql, {
          accountId: account.id,
          accountName: account.name,
          address: request.ip,
          action: "token.revoked",
          target: gone.prefix,
          detail: { name: gone.name },
        });
      });
    },
  );
};
