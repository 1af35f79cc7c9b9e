// `auth` of owl.yaml -> how people sign in. Invariant: what could let nobody in, or anybody, is refused here.

import type { AuthConfig, OidcConfig } from "./auth-config.ts";
import type { Reading } from "./complete-app.ts";
import { DEFAULTS } from "./defaults.ts";
import type { OwlYaml } from "./schema.ts";
import { formatDuration } from "./units.ts";

type RawOidc = NonNullable<NonNullable<OwlYaml["auth"]>["oidc"]>;

const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);
const MOST_SESSION_MS = 30 * 86_400_000;

export function completeAuth({ auth: raw }: OwlYaml, read: Reading): { readonly auth?: AuthConfig } {
  if (raw === undefined) return {};
  if (raw.local === false && raw.oidc === undefined)
    read.say(["auth", "local"], "auth.local is false, so auth.oidc is needed: members could not sign in at all");
  const oidc = raw.oidc === undefined ? null : completeOidc(raw.oidc, read);
  return { auth: { local: raw.local ?? true, oidc } };
}

function completeOidc(raw: RawOidc, read: Reading): OidcConfig {
  const at = (key: string) => ["auth", "oidc", key];
  const issuer = URL.parse(raw.issuer);
  if (issuer === null || !isSafe(issuer) || issuer.search !== "" || issuer.hash !== "")
    read.say(
      at("issuer"),
      "auth.oidc.issuer: expected an https:// URL without a query (http:// on this machine alone)",
    );
  const url = raw.url === undefined ? null : URL.parse(raw.url);
  if (raw.url !== undefined && (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`))
    read.say(at("url"), "auth.oidc.url: expected an http(s) URL without a path, such as https://owl.example.org");
  const scopes = [...new Set(["openid", ...(raw.scopes ?? DEFAULTS.oidc.scopes)])];
  for (const key of ["domains", "linkByEmail"] as const) {
    if (raw[key] && !scopes.includes("email"))
      read.say(at(key), `auth.oidc.${key} needs the mail address: name email in auth.oidc.scopes`);
  }
  const sessionMs = raw.session ?? DEFAULTS.oidc.sessionMs;
  if (sessionMs < 60_000 || sessionMs > MOST_SESSION_MS)
    read.say(at("session"), `auth.oidc.session (${formatDuration(sessionMs)}) must be from 1m to 30d`);
  return {
    issuer: raw.issuer,
    clientId: raw.clientId,
    clientSecret: raw.clientSecret === undefined ? null : read.secret(at("clientSecret"), raw.clientSecret),
    url: url?.origin ?? null,
    scopes,
    groups: raw.groups ?? DEFAULTS.oidc.groups,
    roles:
      raw.roles === undefined
        ? null
        : { administrator: raw.roles.administrator ?? [], member: raw.roles.member ?? null },
    domains: raw.domains ?? null,
    provision: raw.provision ?? true,
    linkByEmail: raw.linkByEmail ?? false,
    button: raw.button ?? null,
    sessionMs,
  };
}

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.has(hostname));
}
