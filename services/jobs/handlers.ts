// Every kind's handler. Invariant: keyed by the job-kind union, so that a kind without a handler does not compile.

import type { JobKind } from "../../config/config.ts";
import { createChatHandler } from "./chat/handler.ts";
import type { Handler } from "./handler.ts";
import { createPlaybookHandler } from "./playbook/handler.ts";
import { createSchemaAnalysisHandler } from "./schema-analysis/handler.ts";
import { createTranscriptionHandler } from "./transcription/handler.ts";

/** The handlers a worker runs. */
export function createHandlers(): Readonly<Record<JobKind, Handler>> {
  return {
    chat: createChatHandler(),
    transcription: createTranscriptionHandler(),
    playbook: createPlaybookHandler(),
    "schema-analysis": createSchemaAnalysisHandler(),
  };
}
