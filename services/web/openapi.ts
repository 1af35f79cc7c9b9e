// The OpenAPI document of the routes, made when somebody asks for it: by then they are all there, and whoever never asks
// never loads what writes it.

import type { FastifyInstance, RouteOptions } from "fastify";
import { z } from "zod";
import { scopeOf } from "../core/token-scopes.ts";
import { emptyBody } from "../core/wire/parts.ts";
import { problem } from "../core/wire/problem.ts";
import { ANYTHING, fileBody } from "./wire.ts";

/** Notes every route that is added to `app` afterwards; the document's writer. */
export function collectDocument(app: FastifyInstance, release: string): () => Promise<object> {
  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => void routes.push(route));
  let document: Promise<object> | null = null;
  return () => (document ??= writeDocument(routes, release));
}

const SESSION = { session: { type: "apiKey", in: "cookie", name: "owl_session" } } as const;

/** A route that tokens open says so, and which scope they need. */
function byToken(method: string, url: string): { readonly security?: { readonly [name: string]: string[] }[] } {
  const scope = scopeOf(method, url);
  return scope === null ? {} : { security: [{ session: [] }, { token: [scope] }] };
}

async function writeDocument(routes: readonly RouteOptions[], release: string): Promise<object> {
  const [{ default: fastify }, { default: swagger }] = await Promise.all([
    import("fastify"),
    import("@fastify/swagger"),
  ]);
  const described = fastify({ exposeHeadRoutes: false });
  described.setValidatorCompiler(() => () => true);
  described.setSerializerCompiler(() => JSON.stringify);
  described.addSchema(problemSchema);
  await described.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Owl web API", version: release },
      components: { securitySchemes: { ...SESSION, token: { type: "http", scheme: "bearer" } } },
      security: [{ session: [] }],
    },
    transform: describeRoute,
  });
  await described.register(async (scope) => {
    for (const { method, url, schema } of routes)
      scope.route({
        method,
        url,
        schema: { ...byToken([method].flat()[0] ?? "", url), ...schema },
        handler: () => undefined,
      });
  });
  await described.ready();
  return described.swagger();
}

const jsonSchema = (shape: z.ZodType, io: "input" | "output") => {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: "any", target: "draft-2020-12" });
  return schema;
};

/** A route's shapes as the OpenAPI document tells them. */
function describeRoute({ schema, url }: { readonly schema: unknown; readonly url: string }) {
  const { params, querystring, body, response, ...rest } = (schema ?? {}) as Readonly<Record<string, unknown>>;
  const answers = Object.entries((response ?? {}) as Readonly<Record<string, z.ZodType>>).map(
    ([status, shape]) => [status, jsonSchema(shape, "output")] as const,
  );
  const asked = { params, querystring, ...(body === emptyBody || body === fileBody ? {} : { body }) };
  const parts = Object.entries(asked).flatMap(([part, shape]) =>
    shape === undefined || shape === ANYTHING ? [] : [[part, jsonSchema(shape as z.ZodType, "input")] as const],
  );
  const refusals = { "4xx": { $ref: "Problem#" }, "5xx": { $ref: "Problem#" } };
  return {
    url,
    schema: { ...rest, ...Object.fromEntries(parts), response: { ...Object.fromEntries(answers), ...refusals } },
  };
}

const problemSchema = { $id: "Problem", ...jsonSchema(problem, "output") };
