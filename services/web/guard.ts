// Who may ask for what. Invariants: the guard goes by the route that matched, never by the address as it was written;
// a route that says nothing is for signed-in accounts; a write that a page of another origin caused is refused.

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { invariant } from "../../config/errors.ts";
import { TOKEN_ROUTES } from "../core/token-scopes.ts";
import { failure } from "../core/wire/errors.ts";
import { identifyByToken } from "./api-tokens.ts";
import type { WebDeps } from "./deps.ts";
import { accountOf, checkFirstPassword, identify } from "./sessions.ts";

/** `socket`: through this instance's own socket alone, never through the proxy. */
type Access = "public" | "account" | "administrator" | "socket";

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyInstance {
    /** Who may ask for each route, by its method and pattern. */
    readonly access: ReadonlyMap<string, Access>;
  }
}

const READS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Guards every route that is added to `app` afterwards. */
export function guard(app: FastifyInstance, deps: WebDeps): void {
  const access = new Map<string, Access>();
  app.decorate("access", access);
  app.addHook("onRoute", (route) => {
    for (const method of [route.method].flat()) access.set(`${method} ${route.url}`, accessOf(route));
  });
  app.addHook("onReady", async () => {
    for (const route of TOKEN_ROUTES) invariant(access.has(route), `there is a route ${route} for tokens to open`);
  });
  app.addHook("onRequest", async (request, reply) => {
    // Answers are somebody's own: no cache on the way or in the browser keeps them. A route may say otherwise.
    if (request.url.startsWith("/api/")) reply.header("cache-control", "no-store");
    // There is nothing to guard, and the answer tells nothing.
    if (request.is404) return;
    checkOrigin(request);
    await admit(access.get(`${request.method} ${request.routeOptions.url}`) ?? "account", deps, request, reply);
  });
}

function accessOf({ config, url }: RouteOptions): Access {
  if (config?.access) return config.access;
  if (url.startsWith("/internal/")) return "socket";
  return url.startsWith("/api/admin/") ? "administrator" : "account";
}

async function admit(access: Access, deps: WebDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (access === "public") return;
  if (access === "socket") {
    if (request.headers["x-forwarded-for"] === undefined) return;
    throw failure("request.internal", { route: routeOf(request) });
  }
  if (!(await identifyByToken(deps, request))) await identify(deps, request, reply);
  const account = accountOf(request);
  checkFirstPassword(request);
  if (access === "administrator" && account.role !== "administrator") throw failure("request.role");
}

/** What was asked for, without its query. */
export const routeOf = (request: FastifyRequest): string => `${request.method} ${request.url.split("?")[0]}`;

function checkOrigin(request: FastifyRequest): void {
  if (READS.has(request.method)) return;
  const site = request.headers["sec-fetch-site"];
  const { origin, host } = request.headers;
  const isForeignSite = site !== undefined && site !== "same-origin" && site !== "none";
  const isForeignOrigin = origin !== undefined && URL.parse(origin)?.host !== host;
  if (isForeignSite || isForeignOrigin) throw failure("request.origin");
}
