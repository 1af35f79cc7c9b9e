// The endpoint's responder without its library, which is loaded at the first question: a worker is ready sooner, and one
// without a model never loads it. `loadAhead` (jobs/handlers.ts) loads it once the worker is ready.

import type { AppConfig } from "../../config/config.ts";
import type { Responder } from "./responder.ts";

/** Answers by the configured endpoint. */
export function endpointOnDemand(model: NonNullable<AppConfig["model"]>): Responder {
  let loaded: Promise<Responder> | null = null;
  return async (question, answering) => {
    loaded ??= import("./endpoint.ts").then(({ createEndpointResponder }) => createEndpointResponder(model));
    return (await loaded)(question, answering);
  };
}
