// Do the model, the transcriber and the identity provider answer: one GET each, bounded; a command is looked for, never run.

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import { modelsOf } from "../../config/models.ts";
import type { Clock } from "../../config/time.ts";
import { issuerProblem } from "../core/issuer.ts";
import { ENDPOINT_BOUND_MS, type PreflightFacts } from "../core/preflight.ts";

type EndpointFact = PreflightFacts["endpoints"][number];

/** Asks those that are configured; the built-in responder and "auto" need nothing. */
export async function endpointFacts(config: Config, path: string, clock: Clock): Promise<readonly EndpointFact[]> {
  const { app } = config;
  if (!app) return [];
  const asked: Promise<EndpointFact>[] = [];
  const models = new Map(modelsOf(app).map((model) => [model.baseUrl, model]));
  for (const { baseUrl, apiKey } of models.values()) asked.push(askModels("model", baseUrl, apiKey, clock));
  const { engine, command, baseUrl, apiKey } = app.transcription;
  if (engine === "openai" && baseUrl !== null) asked.push(askModels("transcriber", baseUrl, apiKey, clock));
  if (engine === "command" && command?.[0] !== undefined) asked.push(findCommand(command[0], path));
  if (app.auth?.oidc) asked.push(askIssuer(app.auth.oidc.issuer, clock));
  return Promise.all(asked);
}

function askModels(
  name: EndpointFact["name"],
  baseUrl: string,
  apiKey: string | null,
  clock: Clock,
): Promise<EndpointFact> {
  const url = `${baseUrl.replace(/\/{1,9}$/, "")}/models`;
  const headers: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  return ask(name, { url, headers, clock }, async (answer) => {
    await answer.body?.cancel();
    return null;
  });
}

/** What an identity provider says of itself must fit what owl.yaml says of it. */
function askIssuer(issuer: string, clock: Clock): Promise<EndpointFact> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  return ask("sign-in", { url, headers: {}, clock }, async (answer) => {
    if (answer.status !== 200) {
      await answer.body?.cancel();
      return `status ${answer.status}`;
    }
    return issuerProblem(issuer, await answer.text());
  });
}

async function ask(
  name: EndpointFact["name"],
  place: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly clock: Clock },
  problemOf: (answer: Response) => Promise<string | null>,
): Promise<EndpointFact> {
  // A URL may carry a password of its own: it is asked with it and shown without.
  const what = place.url.replace(/\/\/[^/@]*@/, "//");
  const bound = new AbortController();
  const cancel = place.clock.after(ENDPOINT_BOUND_MS, () => bound.abort());
  try {
    const answer = await fetch(place.url, { signal: bound.signal, headers: place.headers, redirect: "manual" });
    return { name, what, status: answer.status, error: await problemOf(answer) };
  } catch (error) {
    if (bound.signal.aborted) return { name, what, status: null, error: null };
    const cause = asError(error).cause;
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : asError(error).message;
    return { name, what, status: null, error: reason };
  } finally {
    cancel();
  }
}

async function findCommand(program: string, path: string): Promise<EndpointFact> {
  const places = program.includes("/") ? [program] : path.split(":").map((dir) => join(dir, program));
  for (const place of places) {
    const there = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (there) return { name: "transcriber", what: program, status: 0, error: null };
  }
  return { name: "transcriber", what: program, status: null, error: null };
}
