// The OpenAPI document of the control API, made from the route table. Pure.

import { z } from "zod";
import type { Route } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { problem } from "./schemas.ts";

type Json = Readonly<Record<string, unknown>>;

const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** The document for `version` of Owl. */
export function openapiDocument(version: string): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Record<string, unknown> = { Problem: jsonSchema(problem) };
  for (const route of ROUTES) {
    schemas[route.answer.name] ??= jsonSchema(route.answer.shape);
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  for (const extra of EXTRA) paths[extra.path] = extra.operations;
  return {
    openapi: "3.1.0",
    info: {
      title: "Owl control API",
      version,
      description: "Served by owld on its Unix socket. Streams are one JSON object a line (application/x-ndjson).",
    },
    paths,
    components: { schemas },
  };
}

function operation(route: Route): Json {
  const { status, name, lines } = route.answer;
  const type = lines === true ? "application/x-ndjson" : "application/json";
  return {
    operationId: route.id,
    summary: route.summary,
    parameters: [...pathParameters(route.path), ...queryParameters(route.query)],
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: jsonSchema(route.body) } } } }),
    responses: {
      [status]: { description: route.summary, content: { [type]: { schema: reference(name) } } },
      default: PROBLEM,
    },
  };
}

const PROBLEM: Json = {
  description: "What went wrong, and what to do",
  content: { "application/problem+json": { schema: reference("Problem") } },
};

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: z.ZodObject | undefined): Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    description: (schema as z.ZodType).description,
    schema: jsonSchema(schema as z.ZodType),
  }));
}

function jsonSchema(schema: z.ZodType): Json {
  // What goes over the wire: the input side of the query's transformed texts.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Record<
    string,
    unknown
  >;
  return rest;
}

const text = (type: string): Json => ({ content: { [type]: { schema: { type: "string" } } } });
const passed = (method: string): Json => ({
  operationId: `${method}App`,
  summary: "Passed on to a ready bundled web instance, as /internal/{path}",
  parameters: [{ name: "path", in: "path", required: true, schema: { type: "string" } }],
  responses: { default: { description: "That instance's answer, or 503 app.unavailable" } },
});

/** Served by server.ts itself. */
const EXTRA: readonly { readonly path: string; readonly operations: Record<string, unknown> }[] = [
  {
    path: "/metrics",
    operations: {
      get: {
        operationId: "getMetrics",
        summary: "Prometheus text",
        responses: { 200: { description: "Metrics", ...text("text/plain") }, default: PROBLEM },
      },
    },
  },
  {
    path: "/v1/openapi.json",
    operations: {
      get: {
        operationId: "getOpenapi",
        summary: "This document",
        responses: { 200: { description: "OpenAPI", content: { "application/json": { schema: { type: "object" } } } } },
      },
    },
  },
  {
    path: "/v1/app/{path}",
    operations: Object.fromEntries(["get", "post", "put", "patch", "delete"].map((method) => [method, passed(method)])),
  },
];
