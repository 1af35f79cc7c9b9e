// Signing in through the identity provider (auth.oidc), and the end of it. Invariants: what a sign-in hangs on is one
// secret that only this browser has, in a cookie for ten minutes, so any web process finishes it; a person comes back by a
// link, so whatever goes wrong is said by the sign-in page; tries that fail are bounded by address.

import { randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { OidcConfig } from "../../../config/auth-config.ts";
import { OwlError } from "../../../config/errors.ts";
import type { SignInRefusal } from "../../core/sign-in.ts";
import { nothing } from "../../core/wire/parts.ts";
import { logoutNotice, providerEnd, signInQuery } from "../../core/wire/provider.ts";
import { recordAudit } from "../../db/audit.ts";
import { endProviderSession, endProviderSessions } from "../../db/identities.ts";
import type { Routes, WebDeps } from "../deps.ts";
import { beginTry, endTry, providerSubjects } from "../login-throttle.ts";
import { admitPerson } from "../provider/arrivals.ts";
import { CALLBACK_PATH, createProvider, type Provider } from "../provider/provider.ts";
import { closeSession, hashSessionId, openProviderSession, SESSION_COOKIE } from "../sessions.ts";
import type { WireTypes } from "../wire.ts";

const tags = ["session"];
const PATH = "/api/session/provider";
const COOKIE = "owl_sign_in";
const COOKIE_S = 600;
const SECRET = /^([\w-]{43})(?:\.([\w-]{1,700}))?$/;
const LOGOUT_BYTES = 20_000;

export const providerRoutes: Routes = (app, deps) => {
  const config = deps.config.auth?.oidc ?? null;
  if (config === null) return;
  const provider = createProvider(config, deps.clock);
  const baseOf = (request: FastifyRequest): string => config.url ?? `${request.protocol}://${request.host}`;

  app.get(
    PATH,
    {
      config: { access: "public" },
      schema: { summary: "To the identity provider", tags, security: [], querystring: signInQuery },
    },
    async (request, reply) => {
      const secret = randomBytes(32).toString("base64url");
      const to = Buffer.from(ownPath(request.query.to)).toString("base64url");
      try {
        const there = await provider.begin(baseOf(request), secret);
        const secure = deps.config.secureCookies || request.protocol === "https";
        const lasting = { httpOnly: true, sameSite: "lax", secure, path: PATH, maxAge: COOKIE_S } as const;
        return reply.setCookie(COOKIE, `${secret}.${to}`, lasting).redirect(there.href);
      } catch (error) {
        return refuse(request, reply, await reasonOf(error), error);
      }
    },
  );

  app.get(
    CALLBACK_PATH,
    { config: { access: "public" }, schema: { summary: "Back from it", tags, security: [] } },
    async (request, reply) => {
      const [, secret, to = ""] = SECRET.exec(request.cookies[COOKIE] ?? "") ?? [];
      reply.clearCookie(COOKIE, { path: PATH });
      if (secret === undefined) return refuse(request, reply, "expired");
      const subjects = providerSubjects(request.ip);
      try {
        await beginTry(deps.db, subjects);
        const address = new URL(request.url, baseOf(request));
        const refused = await enter(deps, { config, provider, address, secret }, request, reply);
        if (refused !== null) return refuse(request, reply, refused);
        await endTry(deps.db, subjects);
        return reply.redirect(ownPath(Buffer.from(to, "base64url").toString()));
      } catch (error) {
        return refuse(request, reply, await reasonOf(error), error);
      }
    },
  );

  app.post(
    `${PATH}/end`,
    { schema: { summary: "Sign out here; where to sign out there", tags, response: { 200: providerEnd } } },
    async (request, reply) => {
      const id = request.cookies[SESSION_COOKIE];
      const ended = id === undefined ? null : await endProviderSession(deps.db, hashSessionId(id));
      await closeSession(deps, request, reply);
      if (ended === null) return { url: null };
      // Nobody stays signed in here for a provider that does not answer.
      const there = await provider.endOf(baseOf(request), ended.idToken).catch((err: unknown) => {
        request.log.warn({ err }, "the identity provider was not told of a sign-out");
        return null;
      });
      return { url: there?.href ?? null };
    },
  );

  app.register(async (plain) => {
    const scope = plain.withTypeProvider<WireTypes>();
    scope.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: LOGOUT_BYTES },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
    );
    scope.post(
      `${PATH}/logout`,
      {
        config: { access: "public" },
        schema: {
          summary: "The provider says that a session ended (back-channel logout)",
          tags,
          security: [],
          body: logoutNotice,
          response: { 200: nothing },
        },
      },
      async (request) => {
        const { issuedAtMs, ...ended } = await provider.readLogoutToken(request.body.logout_token);
        // Of a word told twice, what was opened after it is not ended; two clocks may be a little apart.
        const untilMs = issuedAtMs + LATER_MS;
        for (const account of await endProviderSessions(deps.db, { ...ended, untilMs }))
          await recordAudit(deps.db, { ...account, address: request.ip, action: "session.endedByProvider" });
        return null;
      },
    );
  });
};

const LATER_MS = 5_000;

/** Opens a session for whom the provider names; why not otherwise. */
async function enter(
  deps: WebDeps,
  came: {
    readonly config: OidcConfig;
    readonly provider: Provider;
    readonly address: URL;
    readonly secret: string;
  },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignInRefusal | null> {
  const person = await came.provider.finish(came.address, came.secret);
  const { issuer, subject, providerSession, idToken } = person;
  const admitted = await admitPerson(deps, came.config, person, request.ip);
  const entry = { accountName: admitted.name, address: request.ip, detail: { issuer } };
  const session =
    admitted.verdict === "refused"
      ? null
      : await openProviderSession(deps, {
          accountId: admitted.id,
          ...{ issuer, subject, providerSession, idToken, lifeMs: came.config.sessionMs },
        });
  if (admitted.verdict === "refused" || session === null) {
    const why = admitted.verdict === "refused" ? admitted.why : "disabled";
    await recordAudit(deps.db, { ...entry, accountId: null, action: "session.refused", detail: { issuer, why } });
    return why;
  }
  await closeSession(deps, request, reply);
  session(reply);
  await recordAudit(deps.db, { ...entry, accountId: admitted.id, action: "session.opened" });
  return null;
}

/** Back to the sign-in page, which says why in the reader's language. */
function refuse(request: FastifyRequest, reply: FastifyReply, why: SignInRefusal, error?: unknown): FastifyReply {
  if (error !== undefined) request.log.warn({ err: error, why }, "a sign-in through the identity provider failed");
  return reply.redirect(`/?refused=${why}`);
}

/** What a failure on the way means to the person. */
async function reasonOf(error: unknown): Promise<SignInRefusal> {
  const { AuthorizationResponseError, ClientError } = await import("openid-client");
  if (error instanceof OwlError) return error.code === "session.tooMany" ? "tooMany" : "failed";
  if (error instanceof AuthorizationResponseError) return error.error === "access_denied" ? "declined" : "failed";
  if (!(error instanceof Error)) return "failed";
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof ClientError && code === "OAUTH_TIMEOUT") return "away";
  // What fetch throws where nothing answers.
  return error instanceof TypeError && error.message === "fetch failed" ? "away" : "failed";
}

/** A path of ours, and never another site's address. */
function ownPath(raw = "/"): string {
  const base = "http://owl.invalid";
  const url = URL.parse(raw, base);
  return url?.origin === base && /^\/(?![/\\])/.test(raw) ? `${url.pathname}${url.search}` : "/";
}
