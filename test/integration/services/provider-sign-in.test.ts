// Signing in through a real identity provider on loopback, with two web processes: begun at one, finished at the other.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { OidcConfig } from "../../../config/auth-config.ts";
import { DEFAULTS } from "../../../config/defaults.ts";
import { CLIENT, type IdentityProvider, type Person, startIdentityProvider } from "../../support/identity-provider.ts";
import {
  createWebClient,
  PASSWORD,
  type Program,
  type Services,
  startServices,
  type WebClient,
} from "../../support/services.ts";

const OWL = "http://owl.test";
const MINA = {
  sub: "u-1",
  preferred_username: "Mina",
  email: "mina@example.org",
  email_verified: true,
  groups: ["staff"],
};

let services: Services;
let there: IdentityProvider;
let first: Program & { readonly client: WebClient };
let second: Program;

beforeAll(async () => {
  there = await startIdentityProvider(OWL);
  const oidc: OidcConfig = {
    issuer: there.issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    url: OWL,
    scopes: DEFAULTS.oidc.scopes,
    groups: "groups",
    roles: { administrator: ["admins"], member: ["staff"] },
    domains: ["example.org"],
    provision: true,
    linkByEmail: true,
    button: 'Sign in with "Example"',
    sessionMs: DEFAULTS.oidc.sessionMs,
  };
  services = await startServices({ auth: { local: false, oidc } });
  [first, second] = await Promise.all([services.web(), services.web()]);
  await first.client.signIn();
});
afterAll(async () => {
  await services?.stop();
  await there?.stop();
});

const pathOf = (url: string): string => url.slice(OWL.length);

/** Begins at one process, is let in there, comes back to the other; where to then. */
async function arrive(person: Person | null, to = "/"): Promise<{ client: WebClient; location: unknown }> {
  there.letIn(person);
  const began = createWebClient(first.socket);
  const sent = await began.call("GET", `/api/session/provider?to=${encodeURIComponent(to)}`);
  const back = await there.visit(String(sent.headers.location), OWL);
  const client = createWebClient(second.socket);
  const cookie = String(sent.headers["set-cookie"]).split(";")[0] ?? "";
  const { headers } = await client.call("GET", pathOf(back), undefined, { cookie });
  return { client, location: headers.location };
}

test("who comes for the first time gets an account, as what the groups say, and the page they wanted", async () => {
  const { client, location } = await arrive(MINA, "/playbooks?x=1");
  expect(location).toBe("/playbooks?x=1");
  expect((await client.call("GET", "/api/session")).body).toMatchObject({
    name: "mina",
    role: "member",
    byProvider: true,
    hasPassword: false,
    initialPassword: false,
  });
  const { items } = (await first.client.call("GET", "/api/admin/users")).body;
  expect(items).toContainEqual(expect.objectContaining({ name: "mina", provider: there.issuer }));
  // No password lets in whom only the provider vouches for, and just now signed in is as good as one.
  expect((await createWebClient(first.socket).signIn("mina", "")).status).toBe(400);
  expect((await createWebClient(first.socket).signIn("mina")).status).toBe(401);
  const token = { name: "n", scopes: ["chat:read"], expiresInDays: 1 };
  expect((await client.call("POST", "/api/account/tokens", token)).status).toBe(201);
  await services.sql.query(
    "UPDATE owl.session SET created_at = created_at - interval '1 hour' WHERE issuer IS NOT NULL",
  );
  expect((await client.call("POST", "/api/account/tokens", token)).body).toMatchObject({ code: "session.stale" });
});

test("the same person is the same account whatever they are called; groups are looked at again; none ends all", async () => {
  const promoted = await arrive({ ...MINA, preferred_username: "admin", groups: ["admins"] });
  expect((await promoted.client.call("GET", "/api/session")).body).toMatchObject({
    name: "mina",
    role: "administrator",
  });
  const { location } = await arrive({ ...MINA, groups: ["guests"] });
  expect(location).toBe("/?refused=group");
  expect((await promoted.client.call("GET", "/api/session")).status).toBe(401);
  const { rows } = await services.sql.query(
    "SELECT 1 FROM owl.api_token t JOIN owl.account a ON a.id = t.account_id WHERE a.name = 'mina'",
  );
  expect(rows).toEqual([]);
});

test("an account that is there already is linked by a verified address called as it, never by a name", async () => {
  for (const name of ["lee@example.org", "kim"])
    await first.client.call("POST", "/internal/users", { name, role: "user", password: PASSWORD });
  const lee = { ...MINA, sub: "u-2", preferred_username: "kim", email: "lee@example.org" };
  expect((await arrive({ ...lee, email_verified: false })).location).toBe("/?refused=domain");
  const linked = await arrive(lee);
  expect((await linked.client.call("GET", "/api/session")).body).toMatchObject({
    name: "lee@example.org",
    hasPassword: true,
  });
  const other = await arrive({ ...MINA, sub: "u-3", preferred_username: "kim", email: "kim@example.org" });
  expect((await other.client.call("GET", "/api/session")).body).toMatchObject({ name: "kim@example.org" });
  await first.client.call("POST", "/api/admin/users/lee@example.org/disable");
  expect((await arrive(lee)).location).toBe("/?refused=disabled");
});

test("groups take nobody away who is the last administrator", async () => {
  const boss = { ...MINA, sub: "u-4", preferred_username: "boss", email: "boss@example.org", groups: ["admins"] };
  expect((await (await arrive(boss)).client.call("GET", "/api/session")).body).toMatchObject({ role: "administrator" });
  const others = "UPDATE owl.account SET disabled_at = $1 WHERE role = 'administrator' AND name <> 'boss'";
  await services.sql.query(others, [new Date()]);
  const last = await arrive({ ...boss, groups: ["staff"] });
  expect((await last.client.call("GET", "/api/session")).body).toMatchObject({ name: "boss", role: "administrator" });
  await services.sql.query(others, [null]);
  const again = await arrive({ ...boss, groups: ["staff"] });
  expect((await again.client.call("GET", "/api/session")).body).toMatchObject({ name: "boss", role: "member" });
});

test("the provider ends its sessions with a token of its own, and with nothing else", async () => {
  const { client } = await arrive({ ...MINA, groups: ["staff"] });
  const tell = (token: string, web = first) =>
    createWebClient(web.socket).call(
      "POST",
      "/api/session/provider/logout",
      Buffer.from(new URLSearchParams({ logout_token: token }).toString()),
      {
        "content-type": "application/x-www-form-urlencoded",
      },
    );
  const { rows } = await services.sql.query<{ token: string }>(
    "SELECT id_token AS token FROM owl.session WHERE issuer IS NOT NULL AND id_token IS NOT NULL",
  );
  for (const wrong of ["x", rows[0]?.token ?? "", `${rows[0]?.token}x`])
    expect(await tell(wrong)).toMatchObject({ status: 400, body: { code: "provider.token" } });
  expect((await client.call("GET", "/api/session")).status).toBe(200);
  // Signing out here leads there, which tells every client by the back channel.
  const { body } = await client.call("POST", "/api/session/provider/end");
  expect((await client.call("GET", "/api/session")).status).toBe(401);
  const other = await arrive({ ...MINA, groups: ["staff"] });
  expect(await there.visit(body.url, OWL)).toBe(`${OWL}/`);
  const [token = ""] = there.logoutTokens.slice(-1);
  expect((await tell(token)).status).toBe(200);
  expect((await other.client.call("GET", "/api/session")).status).toBe(401);
});

test("what goes wrong on the way is said by the sign-in page", async () => {
  expect((await arrive(null)).location).toBe("/?refused=declined");
  const stranger = createWebClient(first.socket);
  const callback = await stranger.call("GET", "/api/session/provider/callback?code=x&state=y");
  expect(callback.headers.location).toBe("/?refused=expired");
  const cookie = `owl_sign_in=${"a".repeat(43)}`;
  const forged = await stranger.call("GET", "/api/session/provider/callback?code=x&state=y", undefined, { cookie });
  expect(forged.headers.location).toBe("/?refused=failed");
  const { location } = await arrive({ ...MINA, groups: ["staff"] }, "//evil.example/x");
  expect(location).toBe("/");
});

test("passwords stay the administrators' way in, and the page's head says what there is", async () => {
  expect((await createWebClient(first.socket).signIn()).status).toBe(200);
  expect((await createWebClient(first.socket).signIn("kim")).body).toMatchObject({ code: "session.local" });
  const page = await createWebClient(first.socket).call("GET", "/");
  expect(page.body).toContain(
    '<meta name="owl-sign-in" content="{&#34;local&#34;:false,&#34;button&#34;:&#34;Sign in with \\&#34;Example\\&#34;&#34;}">',
  );
});
