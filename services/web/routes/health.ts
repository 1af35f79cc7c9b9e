// /healthz: the process answers. /readyz: it may get work. Both on the instance's own socket only.

import type { Routes } from "../deps.ts";

const config = { access: "socket" } as const;
const schema = { hide: true };

export const healthRoutes: Routes = (app, deps) => {
  app.get("/healthz", { config, schema }, async () => ({ ok: true, instance: deps.instance }));
  app.get("/readyz", { config, schema }, async (_request, reply) => {
    const reason = deps.notReady();
    return reply.code(reason === null ? 200 : 503).send({ ready: reason === null, reason, instance: deps.instance });
  });
};
