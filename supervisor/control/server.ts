// The control API's HTTP server on the Unix socket. node:http rather than a framework: a table of routes, one
// translator and JSON lines are all it needs, and owld's memory and start-up are budgeted.
// Invariant: every answer is JSON, a stream of lines, or a problem document; nothing a client does ends owld.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { z } from "zod";
import { asError, OwlError } from "../../config/errors.ts";
import { createServer } from "../../config/http.ts";
import { acceptedLanguage, type Language } from "../../config/language.ts";
import { Refusal } from "../core/text/refusal.ts";
import { type Text, textOf } from "../core/text/text.ts";
import { passToApp } from "./app-passage.ts";
import type { Control } from "./control.ts";
import { listenAt } from "./control-socket.ts";
import { streamLines } from "./event-stream.ts";
import { openapiDocument } from "./openapi.ts";
import { isOurFault, toProblem } from "./problems.ts";
import type { Route } from "./route.ts";
import { ROUTES } from "./routes.ts";

const BODY_BYTES = 1_048_576;
const APP = "/v1/app/";

interface ControlServerParts {
  readonly control: Control;
  readonly socketPath: string;
  readonly version: string;
  /** The installation's: spoken to those who ask for none. */
  readonly language: () => Language;
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
  /** Hears of failures that are owld's own. */
  readonly failed: (error: Error, request: string) => void;
}

interface ControlServer {
  /** Resolves when it listens. Throws as listenAt does. */
  start(): Promise<void>;
  /** Ends every stream, lets answers that are being written finish, removes the socket. Tolerates twice. */
  stop(): Promise<void>;
}

export function createControlServer(parts: ControlServerParts): ControlServer {
  const lifetime = new AbortController();
  const working = new Set<Promise<void>>();
  let server: Server | null = null;

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const work = answer(parts, request, response, lifetime.signal).finally(() => working.delete(work));
    working.add(work);
  };

  return {
    async start() {
      if (server !== null) return;
      const made = createServer({ keepAliveTimeout: 5_000 }, handle);
      await listenAt(made, parts.socketPath);
      // A connection that fails is its client's loss only.
      made.on("clientError", (_, socket) => socket.destroy());
      server = made;
    },
    async stop() {
      if (server === null) return;
      const closing = server;
      server = null;
      // Node removes the socket's file with it.
      const closed = new Promise<void>((resolve) => closing.close(() => resolve()));
      lifetime.abort(new OwlError("supervisor.stopping", "owld stops."));
      await Promise.all(working);
      closing.closeIdleConnections();
      closing.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  parts: ControlServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  const left = new AbortController();
  response.on("close", () => left.abort());
  response.on("error", () => left.abort());
  const signal = AbortSignal.any([left.signal, stopping]);
  const name = `${request.method} ${request.url}`;
  const text = textOf(acceptedLanguage(request.headers["accept-language"]) ?? parts.language());
  try {
    await route(parts, request, response, { signal, text }, (error) => parts.failed(asError(error), name));
  } catch (error) {
    const problem = toProblem(error, text);
    if (isOurFault(problem)) parts.failed(asError(error), name);
    if (response.headersSent || response.destroyed) response.destroy();
    else send(response, problem.status, problem, "application/problem+json");
  }
}

async function route(
  parts: ControlServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  { signal, text }: { readonly signal: AbortSignal; readonly text: Text },
  failed: (error: unknown) => void,
): Promise<void> {
  const { pathname, search, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const method = request.method ?? "GET";
  if (pathname.startsWith(APP)) {
    const path = pathname.slice(APP.length - 1) + search;
    return passToApp(request, response, path, parts.control.appTarget(), signal);
  }
  if (method === "GET" && pathname === "/v1/openapi.json") return send(response, 200, openapiDocument(parts.version));
  if (method === "GET" && pathname === "/metrics") {
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(await parts.metrics());
    return;
  }
  const { route: found, params } = findRoute(method, pathname, response);
  const body = await readBody(request, found);
  const query = parseShape(found.query, uniqueQuery(searchParams), "query");
  const reply = await found.run({ control: parts.control, params, query: query ?? {}, body, text, signal });
  if (reply.kind === "json") send(response, reply.status, reply.body);
  else await streamLines(response, reply.lines, { signal, text }, failed);
}

function send(response: ServerResponse, status: number, body: unknown, type = "application/json"): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": `${type}; charset=utf-8`,
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
  });
  response.end(text);
}

function findRoute(
  method: string,
  pathname: string,
  response: ServerResponse,
): { readonly route: Route; readonly params: Readonly<Record<string, string>> } {
  const segments = pathname.split("/");
  const allowed: string[] = [];
  for (const candidate of ROUTES) {
    const params = matchPath(candidate.path.split("/"), segments);
    if (params === null) continue;
    if (candidate.method === method) return { route: candidate, params };
    allowed.push(candidate.method);
  }
  if (allowed.length === 0) throw new Refusal("route.unknown", ({ refused }) => refused.request.noRoute(pathname));
  response.setHeader("allow", allowed.join(", "));
  throw new Refusal("method.notAllowed", ({ refused }) => refused.request.method(pathname, allowed, method));
}

function matchPath(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== segment) return null;
    } else {
      if (segment === "") return null;
      params[part.slice(1)] = decode(segment);
    }
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal("request.invalid", ({ refused }) => refused.request.brokenEscape(segment));
  }
}

function uniqueQuery(searchParams: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of searchParams) {
    if (Object.hasOwn(query, name))
      throw new Refusal("request.invalid", ({ refused }) => refused.request.givenTwice(name));
    query[name] = value;
  }
  return query;
}

async function readBody(request: IncomingMessage, found: Route): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES)
      throw new Refusal("request.tooLarge", ({ refused }) => refused.request.tooLarge(BODY_BYTES));
    chunks.push(chunk);
  }
  if (found.body === undefined) return undefined;
  return parseShape(found.body, parseJson(Buffer.concat(chunks).toString("utf8")), "body");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal(
      "request.invalid",
      ({ refused: { request } }) => (text === "" ? request.emptyBody() : request.noJson()),
      { cause },
    );
  }
}

/** The value as it came, once it fits; the routes parse it into its type. Throws `request.invalid` with every place. */
function parseShape(shape: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (shape === undefined) return undefined;
  const { success, error } = z.safeParse(shape, value);
  if (success) return value;
  const issues = error.issues.map((issue) => `${[where, ...issue.path].join(".")}: ${issue.message}`);
  throw new Refusal("request.invalid", ({ refused }) => refused.request.shape(issues.join("; ")));
}
