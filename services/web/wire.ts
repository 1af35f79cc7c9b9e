// The wire contract under fastify: zod shapes check what comes in, type what goes out and make the OpenAPI document.
// Invariants: every route has a shape for its params, query and body (none given: it takes none); what cannot be stored
// is refused before a shape sees it.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  FastifyTypeProvider,
  RawServerDefault,
  RouteOptions,
} from "fastify";
import { z } from "zod";
import { type ErrorKey, failure } from "../core/wire/errors.ts";
import { isStorable } from "../core/wire/json.ts";
import { emptyBody } from "../core/wire/parts.ts";

export interface WireTypes extends FastifyTypeProvider {
  readonly validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
  readonly serializer: this["schema"] extends z.ZodType ? z.input<this["schema"]> : unknown;
}

export type WireApp = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, WireTypes>;

/** A body that is a file: read as it comes, by the route itself. */
export const fileBody = z.custom<Readable | null>((body) => body === null || body instanceof Readable);

export const ANYTHING = z.unknown();

/** Fills in what a route does not say. Throws for a path with a parameter that has no shape; pages look it up. */
export function completeSchema(route: RouteOptions): void {
  const { schema = {}, config, method, url } = route;
  if (url.includes(":") && schema.params === undefined && config?.access !== "public")
    throw new Error(`${url} has no shape for its params.`);
  const takesBody = method !== "GET" && method !== "HEAD";
  route.schema = { params: ANYTHING, querystring: ANYTHING, ...schema };
  if (takesBody) route.schema.body ??= emptyBody;
}

/** Fastify's validator of one part of a request. */
export function compileShape(part: { readonly schema: unknown; readonly httpPart?: string }) {
  const shape = part.schema as z.ZodType;
  const name = part.httpPart ?? "body";
  return (data: unknown) => {
    // A body's text was judged when it was read (core/wire/json.ts).
    if (name !== "body" && !isStorable(data)) return refused("request.invalid#text", name, "");
    const read = shape.safeParse(data);
    // As it was sent: an Idempotency-Key's request is compared by it, with what another release noted.
    if (read.success) return { value: data };
    const [issue] = read.error.issues;
    const field = [name, ...(issue?.path ?? [])].join(".");
    return refused("request.invalid", field, issue?.message ?? "not as expected");
  };
}

function refused(key: ErrorKey, field: string, why: string): { readonly error: Error } {
  return { error: failure(key, { field, why: why.replace(/^Invalid input: /, "") }, { data: { field } }) };
}

/** The one status that a route's schema names for what succeeded. */
export function successOf(request: FastifyRequest): number {
  const { response } = request.routeOptions.schema ?? {};
  return Number(Object.keys(response ?? { 200: null })[0]);
}

/** JSON as it is: a handler's answer was checked against its shape by the compiler. */
export const compileAnswer = () => (answer: unknown) => JSON.stringify(answer);
