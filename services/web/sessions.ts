// Who is asking. Invariants: a session id is 256 random bits, stored hashed, 30 days
// sliding.

import { createHash, randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Role } from "../core/approval.ts";
import { failure } from "../core/wire/errors.ts";
import { deleteSession, extendSession, findSession, insertSession, keepDevice } from "../db/accounts.ts";
import { insertProviderSession } from "../db/identities.ts";
import type { Sql } from "../db/pool.ts";
import type { WebDeps } from "./deps.ts";

export const SESSION_COOKIE = "owl_session";
const SESSION_MS = 30 * 86_400_000;
/** Of a browser that was signed in before; gives no access. */
const DEVICE_COOKIE = "owl_device";
const DEVICE_MS = 365 * 86_400_000;

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly initialPassword: boolean;
  /** How the session that asks was opened; null: an API token asks. */
  readonly session: { readonly byProvider: boolean; readonly isFresh: boolean; readonly hasPassword: boolean } | null;
}

declare module "fastify" {
  interface FastifyRequest {
    account: Account | null;
  }
}

/** Throws `password.weak` for one shorter than 10 or longer than 1,000 characters. */
export function checkPassword(password: string): void {
  if (password.length < 10 || password.length > 1_000) {
    throw failure("password.weak");
  }
}

export function hashSessionId(id: string): Buffer {
  return createHash("sha256").update(id).digest();
}

/**
 * Opens a session under a new id for the account whose password was checked against `passwordHash`; the answer sets its
 * cookie. null when the account was disabled or its password changed meanwhile.
 */
export async function openSession(
  deps: WebDeps,
  sql: Sql,
  account: { readonly id: string; readonly passwordHash: string },
): Promise<((reply: FastifyReply) => void) | null> {
  const id = randomBytes(32).toString("base64url");
  const session = { idHash: hashSessionId(id), accountId: account.id, passwordHash: account.passwordHash };
  if (!(await insertSession(sql, { ...session, lifeMs: SESSION_MS }))) return null;
  return (reply) => setCookie(deps, reply, { name: SESSION_COOKIE, value: id, path: "/", lifeMs: SESSION_MS });
}

/** Opens a session for whom the identity provider vouches; null when the account is disabled. */
export async function openProviderSession(
  deps: WebDeps,
  wanted: Omit<Parameters<typeof insertProviderSession>[1], "idHash">,
): Promise<((reply: FastifyReply) => void) | null> {
  const value = randomBytes(32).toString("base64url");
  if (!(await insertProviderSession(deps.db, { ...wanted, idHash: hashSessionId(value) }))) return null;
  return (reply) => setCookie(deps, reply, { name: SESSION_COOKIE, value, path: "/", lifeMs: wanted.lifeMs });
}

function setCookie(
  deps: WebDeps,
  reply: FastifyReply,
  cookie: { readonly name: string; readonly value: string; readonly path: string; readonly lifeMs: number },
): void {
  reply.setCookie(cookie.name, cookie.value, {
    httpOnly: true,
    sameSite: "lax",
    // Owl's own TLS, or that of a proxy in front which is trusted (proxy.trust): our proxy passes on no other's word.
    secure: deps.config.secureCookies || reply.request.protocol === "https",
    path: cookie.path,
    maxAge: cookie.lifeMs / 1_000,
  });
}

/** The hash of the device that the request says it comes from, or null. */
export function deviceOf(request: FastifyRequest): Buffer | null {
  const id = request.cookies[DEVICE_COOKIE];
  return id !== undefined && /^[\w-]{43}$/.test(id) ? hashSessionId(id) : null;
}

/** Remembers that the account was signed in with this device; one that has no name yet gets one. */
export async function rememberDevice(
  deps: WebDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  accountId: string,
): Promise<void> {
  const known = deviceOf(request);
  const id = known === null ? randomBytes(32).toString("base64url") : (request.cookies[DEVICE_COOKIE] ?? "");
  await keepDevice(deps.db, known ?? hashSessionId(id), accountId);
  setCookie(deps, reply, { name: DEVICE_COOKIE, value: id, path: "/api/session", lifeMs: DEVICE_MS });
}

/** Ends the request's session and takes its cookie away. */
export async function closeSession(deps: WebDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const id = request.cookies[SESSION_COOKIE];
  if (id) await deleteSession(deps.db, hashSessionId(id));
  reply.clearCookie(SESSION_COOKIE, { path: "/" });
}

/** Finds the request's account (null without a living session) and extends the session once an hour. */
export async function identify(deps: WebDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const id = request.cookies[SESSION_COOKIE];
  if (!id) return;
  const idHash = hashSessionId(id);
  const found = await findSession(deps.db, idHash);
  if (!found) return;
  const { id: accountId, name, role, byProvider, isFresh } = found;
  const session = { byProvider, isFresh, hasPassword: found.passwordHash !== "" };
  // Who comes from the identity provider does not use the password that waits to be changed.
  request.account = { id: accountId, name, role, initialPassword: found.initialPassword && !byProvider, session };
  if (found.due) {
    await extendSession(deps.db, idHash, SESSION_MS);
    setCookie(deps, reply, { name: SESSION_COOKIE, value: id, path: "/", lifeMs: SESSION_MS });
  }
}

/** What an account may do before its first password is changed. */
const BEFORE_CHANGE = new Set(["/api/session", "/api/session/password", "/api/openapi.json"]);

/** Throws `password.initial` (403) for a route that is closed until the first password is changed. */
export function checkFirstPassword(request: FastifyRequest): void {
  if (!request.account?.initialPassword || BEFORE_CHANGE.has(request.routeOptions.url ?? "")) return;
  throw failure("password.initial");
}

/** The signed-in account; throws `session.missing` (401). */
export function accountOf(request: FastifyRequest): Account {
  if (request.account) return request.account;
  throw failure("session.missing");
}
