// Who is asking. Invariants: passwords are scrypt hashes; a session id is 256 random bits, stored hashed, 30 days
// sliding; writes come from our own origin only.

import { createHash, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { OwlError } from "../../config/errors.ts";
import { deleteSession, extendSession, findSession, insertSession, type Role } from "../db/accounts.ts";
import type { WebDeps } from "./deps.ts";

export const SESSION_COOKIE = "owl_session";
const SESSION_MS = 30 * 86_400_000;
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 } as const;

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

function derive(password: string, salt: Buffer, bytes: number, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFC"), salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

/** `scrypt$N$r$p$salt$key`, base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, 32, SCRYPT);
  return ["scrypt", SCRYPT.N, SCRYPT.r, SCRYPT.p, salt.toString("base64url"), key.toString("base64url")].join("$");
}

/** True when `password` is the one `hash` was made of. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [scheme, n, r, p, salt, key] = hash.split("$");
  if (scheme !== "scrypt" || salt === undefined || key === undefined) return false;
  const wanted = Buffer.from(key, "base64url");
  const found = await derive(password, Buffer.from(salt, "base64url"), wanted.length, {
    N: Number(n),
    r: Number(r),
    p: Number(p),
    maxmem: SCRYPT.maxmem,
  });
  return timingSafeEqual(wanted, found);
}

/** Throws `password.weak` for one shorter than 10 or longer than 1,000 characters. */
export function checkPassword(password: string): void {
  if (password.length < 10 || password.length > 1_000) {
    throw new OwlError("password.weak", "A password has 10 to 1,000 characters.");
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
  throw new OwlError("session.missing", "Please sign in.", { next: "POST /api/session with name and password." });
}

/** The signed-in account when it is an administrator; throws `request.role` (403). */
export function administratorOf(request: FastifyRequest): Account {
  const account = accountOf(request);
  if (account.role === "administrator") return account;
  throw new OwlError("request.role", "Only administrators may do this.");
}

const READS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Throws `request.origin` for a write that a page of another origin caused. */
export function checkOrigin(request: FastifyRequest): void {
  if (READS.has(request.method)) return;
  const site = request.headers["sec-fetch-site"];
  const origin = request.headers.origin;
  const foreignSite = site !== undefined && site !== "same-origin" && site !== "none";
  let foreignOrigin = false;
  if (origin !== undefined) {
    const host = URL.parse(origin)?.host ?? null;
    foreignOrigin = host === null || host !== request.headers.host;
  }
  if (foreignSite || foreignOrigin) {
    throw new OwlError("request.origin", "This request came from another site and was refused.");
  }
}
