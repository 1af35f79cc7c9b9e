// The identity provider as this process sees it: where it sends people, what it says of who comes back, what it ends.
// Invariants: its libraries are loaded at the first need of them; what it said of itself is asked again each hour, and at
// once after a failure; nothing of a token is believed before its signature, issuer and audience were checked.

import { createHash } from "node:crypto";
import type { JWTVerifyGetKey } from "jose";
import type { Configuration } from "openid-client";
import type { OidcConfig } from "../../../config/auth-config.ts";
import type { Clock } from "../../../config/time.ts";
import type { Claims } from "../../core/claims.ts";
import { failure } from "../../core/wire/errors.ts";

export const CALLBACK_PATH = "/api/session/provider/callback";

const TIMEOUT_S = 10;
const KNOWN_FOR_MS = 3_600_000;
/** How old the word that a session ended may be, and how far two clocks may be apart. */
const LOGOUT_AGE_S = 600;
const CLOCK_TOLERANCE_S = 60;
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

interface Arrived {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Claims;
  readonly providerSession: string | null;
  readonly idToken: string | null;
}

interface EndedThere {
  readonly issuer: string;
  readonly subject: string | null;
  readonly providerSession: string | null;
  readonly issuedAtMs: number;
}

export interface Provider {
  /** Where the browser that holds `secret` goes to sign in. */
  begin(base: string, secret: string): Promise<URL>;
  /** Who came back to `address`, in the browser that holds `secret`. Throws for whatever does not fit. */
  finish(address: URL, secret: string): Promise<Arrived>;
  /** Where a browser goes to end the provider's own session; null where it takes nobody. */
  endOf(base: string, idToken: string | null): Promise<URL | null>;
  /** What a logout token says. Throws `provider.token` (400) for any other. */
  readLogoutToken(token: string): Promise<EndedThere>;
}

/** What only the browser that holds `secret` can have: each of these is another word made of it. */
const wordOf = (purpose: "state" | "nonce" | "verifier", secret: string): string =>
  createHash("sha256").update(`${purpose} ${secret}`).digest("base64url");

export function createProvider(config: OidcConfig, clock: Clock): Provider {
  let known: { readonly untilMs: number; readonly found: Promise<Configuration> } | null = null;
  let keys: JWTVerifyGetKey | null = null;

  function discovered(): Promise<Configuration> {
    if (known !== null && known.untilMs > clock.monotonicMs()) return known.found;
    const found = discover(config);
    const mine = { untilMs: clock.monotonicMs() + KNOWN_FOR_MS, found };
    known = mine;
    found.catch(() => {
      if (known === mine) known = null;
    });
    return found;
  }

  return {
    async begin(base, secret) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import("openid-client");
      const found = await discovered();
      return buildAuthorizationUrl(found, {
        redirect_uri: `${base}${CALLBACK_PATH}`,
        scope: config.scopes.join(" "),
        code_challenge: await calculatePKCECodeChallenge(wordOf("verifier", secret)),
        code_challenge_method: "S256",
        state: wordOf("state", secret),
        nonce: wordOf("nonce", secret),
      });
    },

    async finish(address, secret) {
      const { authorizationCodeGrant, fetchUserInfo } = await import("openid-client");
      const found = await discovered();
      const tokens = await authorizationCodeGrant(found, address, {
        pkceCodeVerifier: wordOf("verifier", secret),
        expectedState: wordOf("state", secret),
        expectedNonce: wordOf("nonce", secret),
        idTokenExpected: true,
      });
      const named: Claims & { readonly iss: string; readonly sub: string } = tokens.claims() ?? { iss: "", sub: "" };
      const more =
        found.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await fetchUserInfo(found, tokens.access_token, named.sub);
      return {
        issuer: named.iss,
        subject: named.sub,
        claims: { ...more, ...named },
        providerSession: typeof named.sid === "string" ? named.sid : null,
        idToken: tokens.id_token ?? null,
      };
    },

    async endOf(base, idToken) {
      const { buildEndSessionUrl } = await import("openid-client");
      const found = await discovered();
      if (found.serverMetadata().end_session_endpoint === undefined) return null;
      const hint: Record<string, string> = idToken === null ? {} : { id_token_hint: idToken };
      return buildEndSessionUrl(found, { ...hint, post_logout_redirect_uri: `${base}/` });
    },

    async readLogoutToken(token) {
      const { createRemoteJWKSet, errors, jwtVerify } = await import("jose");
      const { issuer, jwks_uri: place } = (await discovered()).serverMetadata();
      keys ??= createRemoteJWKSet(new URL(place ?? issuer), { timeoutDuration: TIMEOUT_S * 1_000 });
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: config.clientId,
        maxTokenAge: LOGOUT_AGE_S,
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: new Date(clock.now()),
      }).catch((cause: unknown) => {
        const isTheirs = cause instanceof errors.JOSEError && !(cause instanceof errors.JWKSTimeout);
        throw failure(isTheirs ? "provider.token" : "provider.away", {}, { cause });
      });
      const { sub, sid, iat = 0, events, nonce } = payload;
      const isLogout = typeof events === "object" && events !== null && LOGOUT_EVENT in events && nonce === undefined;
      const subject = typeof sub === "string" ? sub : null;
      const providerSession = typeof sid === "string" ? sid : null;
      if (!isLogout || (subject === null && providerSession === null)) throw failure("provider.token");
      return { issuer, subject, providerSession, issuedAtMs: iat * 1_000 };
    },
  };
}

async function discover(config: OidcConfig): Promise<Configuration> {
  const client = await import("openid-client");
  const issuer = new URL(config.issuer);
  const { clientId, clientSecret: secret } = config;
  const isPlain = issuer.protocol === "http:";
  const found = await client.discovery(issuer, clientId, undefined, client.None(), {
    execute: isPlain ? [client.allowInsecureRequests] : [],
    timeout: TIMEOUT_S,
  });
  if (secret === null) return found;
  const server = found.serverMetadata();
  // Without a word of its own a provider takes Basic alone.
  const isPost = server.token_endpoint_auth_methods_supported?.includes("client_secret_post");
  const proof = isPost ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);
  const ours = new client.Configuration(server, clientId, { client_secret: secret }, proof);
  ours.timeout = TIMEOUT_S;
  if (isPlain) client.allowInsecureRequests(ours);
  return ours;
}
