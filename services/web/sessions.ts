// Who is asking. Invariants: a session id is 256 random bits, stored hashed, 30 days
// sliding.

import { createHash, randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { failure } from "../core/wire/errors.ts";
import { deleteSession, extendSession, findSession, insertSession, type Role } from "../db/accounts.ts";
import type { WebDeps } from "./deps.ts";

export const SESSION_COOKIE = "owl_session";
const SESSION_MS = 30 * 86_400_000;

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly initialPassword: boolean;
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

/** Opens a session for the account and sets its cookie. */
export async function openSession(deps: WebDeps, reply: FastifyReply, accountId: string): Promise<void> {
  const id = randomBytes(32).toString("base64url");
  await insertSession(deps.db, hashSessionId(id), accountId, SESSION_MS);
  setCookie(deps, reply, id);
}

function setCookie(deps: WebDeps, reply: FastifyReply, id: string): void {
  reply.setCookie(SESSION_COOKIE, id, {
    httpOnly: true,
    sameSite: "lax",
    secure: deps.config.secureCookies,
    path: "/",
    maxAge: SESSION_MS / 1_000,
  });
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
  request.account = { id: found.id, name: found.name, role: found.role, initialPassword: found.initialPassword };
  if (found.due) {
    await extendSession(deps.db, idHash, SESSION_MS);
    setCookie(deps, reply, id);
  }
}

/** The signed-in account; throws `session.missing` (401). */
export function accountOf(request: FastifyRequest): Account {
  if (request.account) return request.account;
  throw failure("session.missing");
}
