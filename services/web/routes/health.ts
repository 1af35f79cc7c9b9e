// /healthz: the process answers. /readyz: it may get work. Both on the instance's own socket only.

import type { FastifyRequest } from "fastify";
import { OwlError } from "../../../config/errors.ts";
import type { Routes } from "../deps.ts";

/** Throws 404 for a request that came through the proxy: these paths are not public. */
export function refuseProxied(request: FastifyRequest): void {
  if (request.headers["x-forwarded-for"] !== undefined) {
    throw new OwlError("request.internal", `There is nothing at ${request.method} ${request.url.split("?")[0]}.`);
  }
}

export const healthRoutes: Routes = (app, deps) => {
  app.get("/healthz", { schema: { hide: true } }, async (request) => {
    refuseProxied(request);
    return { ok: true, instance: deps.instance };
  });
  app.get("/readyz", { schema: { hide: true } }, async (request, reply) => {
    refuseProxied(request);
    const reason = deps.notReady();
    return reply.code(reason === null ? 200 : 503).send({ ready: reason === null, reason, instance: deps.instance });
  });
};
