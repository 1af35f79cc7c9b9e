// The web application: fastify, its guards, and one route file per resource.
// To add a resource: write routes/NAME.ts exporting a `Routes`, and name it in ROUTES.

import cookie from "@fastify/cookie";
import helmet from "@fastify/helmet";
import swagger from "@fastify/swagger";
import fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { OwlError } from "../../config/errors.ts";
import type { Routes, WebDeps } from "./deps.ts";
import { servePages } from "./pages/serve.ts";
import { problemSchema, sendProblem } from "./problems.ts";
import { adminRoutes } from "./routes/admin.ts";
import { adminJobRoutes } from "./routes/admin-jobs.ts";
import { adminLogRoutes } from "./routes/admin-logs.ts";
import { adminRolloutRoutes } from "./routes/admin-rollouts.ts";
import { adminUserRoutes } from "./routes/admin-users.ts";
import { attachmentRoutes } from "./routes/attachments.ts";
import { batchRoutes } from "./routes/batches.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { eventRoutes } from "./routes/events.ts";
import { healthRoutes } from "./routes/health.ts";
import { internalRoutes } from "./routes/internal.ts";
import { internalBatchRoutes } from "./routes/internal-batches.ts";
import { playbookRunRoutes } from "./routes/playbook-runs.ts";
import { playbookRoutes } from "./routes/playbooks.ts";
import { schemaAnalysisRoutes } from "./routes/schema-analyses.ts";
import { sessionRoutes } from "./routes/session.ts";
import { transcriptionRoutes } from "./routes/transcriptions.ts";
import { turnRoutes } from "./routes/turns.ts";
import { uploadRoutes } from "./routes/uploads.ts";
import { accountOf, checkOrigin, identify } from "./sessions.ts";

const ROUTES: readonly Routes[] = [
  healthRoutes,
  internalRoutes,
  sessionRoutes,
  conversationRoutes,
  turnRoutes,
  attachmentRoutes,
  eventRoutes,
  batchRoutes,
  internalBatchRoutes,
  uploadRoutes,
  transcriptionRoutes,
  playbookRoutes,
  playbookRunRoutes,
  schemaAnalysisRoutes,
  adminRoutes,
  adminRolloutRoutes,
  adminUserRoutes,
  adminLogRoutes,
  adminJobRoutes,
];

/** Paths of /api that need no session. */
const OPEN = new Set(["POST /api/session", "GET /api/session", "GET /api/openapi.json"]);

/** Builds the application; the caller listens and closes. */
export async function createApp(deps: WebDeps): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    disableRequestLogging: true,
    trustProxy: true,
    bodyLimit: 1024 * 1024,
    requestIdHeader: "x-request-id",
    genReqId: () => deps.random.uuid(),
    forceCloseConnections: "idle",
    // A request that reached us on an open connection while we close is answered like any other, not with 503: the
    // proxy may not send it again.
    return503OnClosing: false,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, keywords: ["example"] } },
  });
  app.addSchema(problemSchema);
  app.decorateRequest("account", null);
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request) => {
    throw new OwlError("route.notFound", `There is nothing at ${request.method} ${request.url.split("?")[0]}.`);
  });
  // An empty JSON body is no body: `POST …/stop` needs none.
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    try {
      done(null, JSON.parse(body as string));
    } catch {
      done(new OwlError("request.invalid", "The body is not valid JSON."), undefined);
    }
  });
  await app.register(cookie);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", "data:"],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        mediaSrc: ["'self'", "blob:"],
        manifestSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    // The proxy knows whether there is TLS.
    strictTransportSecurity: false,
    referrerPolicy: { policy: "same-origin" },
  });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Owl web API", version: deps.release },
      components: { securitySchemes: { session: { type: "apiKey", in: "cookie", name: "owl_session" } } },
      security: [{ session: [] }],
    },
  });
  app.addHook("onRequest", async (request, reply) => {
    if (!request.url.startsWith("/api/")) return;
    checkOrigin(request);
    await identify(deps, request, reply);
    if (!OPEN.has(`${request.method} ${request.url.split("?")[0]}`)) accountOf(request);
  });
  await app.register(async (scope) => {
    servePages(scope, { language: deps.config.language });
    for (const routes of ROUTES) routes(scope, deps);
    scope.get("/api/openapi.json", { schema: { hide: true } }, async () => app.swagger());
  });
  return app;
}
