// A real OpenID provider on loopback (oidc-provider): whoever comes is the person it was told to let in. Back-channel
// logout tokens are kept instead of sent, for a test to pass on.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const CLIENT = { id: "owl", secret: "a secret of many letters" };

export type Person = Readonly<Record<string, unknown>>;

export interface IdentityProvider {
  readonly issuer: string;
  /** Whom it lets in next, by their claims (`sub` among them), in a browser it has not seen; null: it lets nobody in. */
  letIn(person: Person | null): void;
  readonly logoutTokens: readonly string[];
  /** Goes where a browser would go, from `url` until it is sent to `back`; answers that address. */
  visit(url: string, back: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startIdentityProvider(owl: string): Promise<IdentityProvider> {
  // @ts-expect-error: it brings no types.
  const { default: Provider } = await import("oidc-provider");
  const people = new Map<string, Person>();
  const logoutTokens: string[] = [];
  let person: Person | null = null;
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${owl}/api/session/provider/callback`],
        post_logout_redirect_uris: [`${owl}/`],
        backchannel_logout_uri: `${owl}/api/session/provider/logout`,
        backchannel_logout_session_required: true,
      },
    ],
    claims: {
      openid: ["sub", "sid"],
      profile: ["preferred_username", "name", "groups"],
      email: ["email", "email_verified"],
    },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        // As a page that presses its own button.
        logoutSource(ctx: { body: string }, form: string) {
          ctx.body = form;
        },
      },
    },
    interactions: { url: (_ctx: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    findAccount: (_ctx: unknown, sub: string) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    // Nobody is asked whether Owl may know.
    async loadExistingGrant(ctx: {
      oidc: {
        client: { clientId: string };
        session: { accountId: string };
        provider: { Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> } };
      };
    }) {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client.clientId,
        accountId: ctx.oidc.session.accountId,
      });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
    async fetch(url: string | URL, options: RequestInit) {
      logoutTokens.push(new URLSearchParams(String(options.body)).get("logout_token") ?? String(url));
      return new Response(null, { status: 200 });
    },
    cookies: { keys: ["test"] },
  });
  const handle = provider.callback();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!request.url?.startsWith("/interaction/")) return handle(request, response);
    if (person !== null) people.set(String(person.sub), person);
    const result = person === null ? { error: "access_denied" } : { login: { accountId: String(person.sub) } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  const cookies = new Map<string, string>();
  return {
    issuer,
    letIn(next) {
      person = next;
      cookies.clear();
    },
    logoutTokens,
    async visit(url, back) {
      let at = url;
      for (let steps = 0; !at.startsWith(back); steps++) {
        if (steps > 10) throw new Error(`no way from ${url} to ${back}: ${at}`);
        at = await follow(at);
      }
      return at;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  async function follow(url: string): Promise<string> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answered = await fetch(url, { redirect: "manual", headers: { cookie } });
    return locationOf(url, answered);
  }

  async function locationOf(url: string, answered: Response): Promise<string> {
    for (const set of answered.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = answered.headers.get("location");
    if (location !== null) return new URL(location, url).href;
    const text = await answered.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1];
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(text)?.[1];
    if (action === undefined || xsrf === undefined) throw new Error(`${url} answered ${answered.status}: ${text}`);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const posted = await fetch(action, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ xsrf, logout: "yes" }),
    });
    return locationOf(action, posted);
  }
}
