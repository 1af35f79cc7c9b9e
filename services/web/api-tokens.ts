// Who is asking with `Authorization: Bearer owl_…`. Invariants: a token is 256 random bits, stored hashed; what it opens
// is said by the table of routes (core/token-scopes.ts) alone; who brings a token is not looked at for a session.

import { createHash, randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { scopeOf, type TokenScope } from "../core/token-scopes.ts";
import { failure } from "../core/wire/errors.ts";
import { findApiToken, noteTokenUse } from "../db/api-tokens.ts";
import type { WebDeps } from "./deps.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The token that was brought, when one was. */
    token: { readonly prefix: string; readonly scopes: readonly TokenScope[] } | null;
  }
}

/** Another kind of Bearer is somebody else's (a proxy's in front, say). */
const BEARER = /^bearer +(owl_[\w-]{43}) *$/i;
const OURS = /^bearer +owl_/i;
const PREFIX_CHARACTERS = 12;

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

export function makeToken(): { readonly token: string; readonly prefix: string; readonly hash: Buffer } {
  const token = `owl_${randomBytes(32).toString("base64url")}`;
  return { token, prefix: token.slice(0, PREFIX_CHARACTERS), hash: hashOf(token) };
}

/** Finds the token's account; false where the request brings none. Throws `token.wrong` (401), `token.scope` (403). */
export async function identifyByToken(deps: WebDeps, request: FastifyRequest): Promise<boolean> {
  const header = request.headers.authorization;
  if (header === undefined || !OURS.test(header)) return false;
  const token = BEARER.exec(header)?.[1];
  const found = token === undefined ? null : await findApiToken(deps.db, hashOf(token));
  if (found === null) throw failure("token.wrong");
  const { accountId: id, name, role, initialPassword, prefix, scopes } = found;
  const scope = scopeOf(request.method, request.routeOptions.url ?? "");
  if (scope === null) throw failure("token.scope#closed");
  if (!scopes.includes(scope)) throw failure("token.scope", { scope }, { data: { scope } });
  if (found.due) await noteTokenUse(deps.db, found.tokenId);
  request.account = { id, name, role, initialPassword, session: null };
  request.token = { prefix, scopes };
  return true;
}
