// The web application: fastify, its guards, and one route file per resource.
// To add a resource: write routes/NAME.ts exporting a `Routes`, and name it in ROUTES.

import cookie from "@fastify/cookie";
import helmet from "@fastify/helmet";
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import type { AuthConfig } from "../../config/auth-config.ts";
import type { SignInWays } from "../core/sign-in.ts";
import { failure } from "../core/wire/errors.ts";
import { readJson } from "../core/wire/json.ts";
import type { Routes, WebDeps } from "./deps.ts";
import { guard, routeOf } from "./guard.ts";
import { collectDocument } from "./openapi.ts";
import { servePages } from "./pages/serve.ts";
import { sendProblem } from "./problems.ts";
import { holdPlaces } from "./request-places.ts";
import { traceRequests } from "./request-spans.ts";
import { accountRoutes } from "./routes/account.ts";
import { accountTokenRoutes } from "./routes/account-tokens.ts";
import { adminRoutes } from "./routes/admin.ts";
import { adminJobRoutes } from "./routes/admin-jobs.ts";
import { adminLogRoutes } from "./routes/admin-logs.ts";
import { adminRolloutRoutes } from "./routes/admin-rollouts.ts";
import { adminUserRoutes } from "./routes/admin-users.ts";
import { assistantRoutes } from "./routes/assistants.ts";
import { attachmentRoutes } from "./routes/attachments.ts";
import { batchRoutes } from "./routes/batches.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { eventRoutes } from "./routes/events.ts";
import { feedbackRoutes } from "./routes/feedback.ts";
import { healthRoutes } from "./routes/health.ts";
import { internalRoutes } from "./routes/internal.ts";
import { internalBatchRoutes } from "./routes/internal-batches.ts";
import { internalScheduleRoutes } from "./routes/internal-schedules.ts";
import { playbookRunRoutes } from "./routes/playbook-runs.ts";
import { playbookRoutes } from "./routes/playbooks.ts";
import { promptRoutes } from "./routes/prompts.ts";
import { providerRoutes } from "./routes/provider.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { schemaAnalysisRoutes } from "./routes/schema-analyses.ts";
import { secondFactorRoutes } from "./routes/second-factor.ts";
import { sessionRoutes } from "./routes/session.ts";
import { shareRoutes } from "./routes/shares.ts";
import { transcriptionRoutes } from "./routes/transcriptions.ts";
import { turnStepRoutes } from "./routes/turn-steps.ts";
import { turnRoutes } from "./routes/turns.ts";
import { uploadRoutes } from "./routes/uploads.ts";
import { compileAnswer, compileShape, completeSchema, successOf, type WireTypes } from "./wire.ts";

const ROUTES: readonly Routes[] = [
  healthRoutes,
  internalRoutes,
  sessionRoutes,
  providerRoutes,
  accountRoutes,
  accountTokenRoutes,
  secondFactorRoutes,
  conversationRoutes,
  assistantRoutes,
  promptRoutes,
  shareRoutes,
  turnRoutes,
  turnStepRoutes,
  feedbackRoutes,
  attachmentRoutes,
  eventRoutes,
  batchRoutes,
  internalBatchRoutes,
  uploadRoutes,
  transcriptionRoutes,
  playbookRoutes,
  playbookRunRoutes,
  scheduleRoutes,
  internalScheduleRoutes,
  schemaAnalysisRoutes,
  adminRoutes,
  adminRolloutRoutes,
  adminUserRoutes,
  adminLogRoutes,
  adminJobRoutes,
];

/** The proxy's, which it bounds; one of a client that came past it is held to the same. */
function requestIdOf(header: string | string[] | undefined): string | null {
  return typeof header === "string" && /^[\x21-\x7e]{1,200}$/.test(header) ? header : null;
}

function neverAsked(): never {
  throw new Error("The compilers of requests and answers are set for the whole application.");
}

/** What the sign-in page offers beside a name and a password. */
const signInWays = (auth: AuthConfig | undefined): SignInWays | null =>
  auth?.oidc ? { local: auth.local, button: auth.oidc.button } : null;

/** Builds the application; the caller listens and closes. */
export async function createApp(deps: WebDeps): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    // With anything here, fastify's own compilers are never loaded.
    schemaController: { compilersFactory: { buildValidator: neverAsked, buildSerializer: neverAsked } },
    trustProxy: true,
    bodyLimit: 1024 * 1024,
    requestIdHeader: false,
    genReqId: ({ headers }) => requestIdOf(headers["x-request-id"]) ?? deps.random.uuid(),
    forceCloseConnections: "idle",
    // A request that reached us on an open connection while we close is answered like any other, not with 503: the
    // proxy may not send it again.
    return503OnClosing: false,
  }).withTypeProvider<WireTypes>();
  app.setValidatorCompiler(compileShape);
  app.setSerializerCompiler(compileAnswer);
  app.decorateRequest("account", null);
  app.decorateRequest("token", null);
  app.addHook("onRoute", completeSchema);
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request) => {
    throw failure("route.notFound", { route: routeOf(request) });
  });
  // An empty JSON body is no body: `POST …/stop` needs none.
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    try {
      done(null, readJson(body as string));
    } catch (error) {
      done(error as Error, undefined);
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
  const document = collectDocument(app, deps.release);
  guard(app, deps);
  holdPlaces(app, deps);
  app.addHook("preHandler", (request, reply, done) => {
    reply.code(successOf(request));
    done();
  });
  // What a request set going is followed from here to its worker (owlctl logs --request).
  app.addHook("onResponse", (request, reply, done) => {
    const { method } = request;
    const { statusCode: status } = reply;
    if (method !== "GET" && method !== "HEAD" && status < 400) {
      const elapsedMs = Math.round(reply.elapsedTime);
      const token = request.token === null ? {} : { token: request.token.prefix };
      request.log.info({ method, route: routeOf(request), status, elapsedMs, ...token }, "request answered");
    }
    done();
  });
  if (deps.tracing) traceRequests(app, deps.tracing, deps.clock);
  await app.register(async (scope) => {
    servePages(scope, { language: deps.config.language, signIn: signInWays(deps.config.auth) });
    for (const routes of ROUTES) routes(scope, deps);
    scope.get("/api/openapi.json", { config: { access: "public" }, schema: { hide: true } }, document);
  });
  return app;
}
