// Every kind's handler. Invariant: keyed by the job-kind union, so that a kind without a handler does not compile.

import type { AppConfig, JobKind } from "../../config/config.ts";
import { createReach } from "../tools/acting/reach.ts";
import type { Sources } from "../tools/sources.ts";
import { createChatHandler } from "./chat/handler.ts";
import type { Titles } from "./chat/titles.ts";
import type { Handler } from "./handler.ts";
import { createPlaybookHandler } from "./playbook/handler.ts";
import { createSchemaAnalysisHandler } from "./schema-analysis/handler.ts";
import { createTranscriptionHandler } from "./transcription/handler.ts";

interface HandlerDeps {
  readonly config: AppConfig;
  readonly sources: Sources;
  /** null: chats keep their first question as title. */
  readonly titles?: Titles | null;
}

/** Loads what handlers load at their first need, so that nobody waits for it: a worker is ready without it. */
export async function loadAhead(config: AppConfig): Promise<void> {
  if (config.model !== null) await import("./schema-analysis/model-describer.ts");
  if (config.mail !== null) await import("../tools/acting/mail.ts");
}

/** The handlers a worker runs. */
export function createHandlers(deps: HandlerDeps): Readonly<Record<JobKind, Handler>> {
  return {
    chat: createChatHandler(deps),
    transcription: createTranscriptionHandler(),
    playbook: createPlaybookHandler({ ...deps, reach: createReach(deps.config.tools.http.allow) }),
    "schema-analysis": createSchemaAnalysisHandler(deps),
  };
}
