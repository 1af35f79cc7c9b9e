// The chat kind's handler: one question to its one answer, streamed into turn events as it comes. The responder is run
// from its beginning at each attempt; what is on record (the model's calls, the tools') is given to it instead of made.
// Invariant: the turn is ended exactly once through context.end, whatever the responder does; text that was made stays.

import type { AppConfig } from "../../../config/config.ts";
import { OwlError } from "../../../config/errors.ts";
import { modelFor, modelsOf } from "../../../config/models.ts";
import { jobCauseOf } from "../../core/abort.ts";
import { toolsToAllow } from "../../core/approval.ts";
import { type Assistant, mayUse, sourcesOf } from "../../core/assistant.ts";
import { ATTACHED_CHARACTERS, type AttachedFile, IMAGE_BYTES_GIVEN } from "../../core/attached-files.ts";
import { type TurnCause, type TurnEndState, turnEndOfAbort } from "../../core/turn.ts";
import { listAttachedTexts, readImages } from "../../db/attachments.ts";
import { rewindTurn } from "../../db/rewind.ts";
import { throughOutage } from "../../db/through-outage.ts";
import { findTurnToAnswer } from "../../db/turn-to-answer.ts";
import { endTurn, findTold, type ToldSoFar } from "../../db/turns.ts";
import { builtInResponder } from "../../model/built-in.ts";
import { endpointOnDemand } from "../../model/on-demand.ts";
import type { Responder } from "../../model/responder.ts";
import { createRunSql } from "../../tools/run-sql.ts";
import { createDescribeTable, createListTables } from "../../tools/schema-tools.ts";
import { createSearchTranscripts } from "../../tools/search-transcripts.ts";
import { onlySources, type Sources } from "../../tools/sources.ts";
import type { Tool } from "../../tools/tool.ts";
import { waitForWord } from "../asking.ts";
import type { Handler, HandlerResult, JobContext } from "../handler.ts";
import { type Journal, openJournal } from "../journal.ts";
import { type AnswerSink, createAnswerSink } from "./answer-sink.ts";
import { createModelRecord } from "./model-record.ts";
import type { Titles } from "./titles.ts";
import { createToolCalls, type ToolCalls } from "./tool-calls.ts";
import { createUsedTokens } from "./used-tokens.ts";

interface ChatDeps {
  readonly config: AppConfig;
  readonly sources: Sources;
  readonly titles?: Titles | null;
  /** Tests: a responder of their own, and tools. */
  readonly responder?: Responder;
  readonly tools?: readonly Tool[];
}

/** How long an ended answer's last words may wait for a database that is away. */
const FLUSH_FOR_MS = 20_000;
/** After an abort the wrap-up is short: words that cannot be stored quickly are given up for the ending. */
const FLUSH_ABORTED_FOR_MS = 1_000;

/** Runs turns. */
export function createChatHandler(deps: ChatDeps): Handler {
  const models = modelsOf(deps.config);
  const responders = new Map(models.map((model) => [model, endpointOnDemand(model)]));

  async function run(context: JobContext): Promise<HandlerResult> {
    const turn = await throughOutage(context, () => findTurnToAnswer(context.db, context.id));
    if (!turn) return "lostClaim";
    // One that was chosen and is no longer there: the usual one answers.
    const { assistant } = turn;
    const model = modelFor(deps.config, turn.model ?? assistant?.model ?? null);
    const responder = deps.responder ?? (model && responders.get(model)) ?? builtInResponder;
    const used = createUsedTokens(model);
    const journal = await openJournal(context, "chat");
    if (journal.asks) return waitForWord(context, "chat");
    const told = await standOn(context, journal);
    if (told === "lostClaim") return "lostClaim";
    const readFiles = () => filesOf(context, turn.accountId, model?.vision === true);
    const files = turn.hasFiles ? await throughOutage(context, readFiles) : [];
    const sink = createAnswerSink({
      db: context.db,
      clock: context.clock,
      log: context.log,
      turn: context,
      onLost: () => context.log.warn("claim was lost while answering"),
      ...(told === null ? {} : { told }),
    });
    // Aborted when nothing goes on before its owner has allowed a call.
    const asking = new AbortController();
    const names = sourcesOf(assistant, await throughOutage(context, () => deps.sources.names()));
    const calls = createToolCalls({
      turnId: context.id,
      tools: deps.tools ?? toolsOf(deps.sources, names, assistant, context),
      sink,
      clock: context.clock,
      random: context.random,
      accountId: turn.accountId,
      journal,
      acting: context.acting,
      approval: toolsToAllow(context.config.tools, turn.role),
      onAsks: () => asking.abort(),
      toldEnds: new Set(told?.ends),
    });
    const { random, traceparent } = context;
    const record = createModelRecord({ journal, sink, random, model: model?.name ?? null, traceparent });
    let failure: unknown = null;
    try {
      await responder(
        { ...turn, files, sources: names, tools: calls.tools },
        {
          signal: AbortSignal.any([context.signal, asking.signal]),
          clock: context.clock,
          words: context.text,
          text: sink.text,
          thought: (thought) => sink.tool({ name: "thinking", ...thought }),
          call: calls.call,
          runningTools: () => calls.running + record.waiting,
          record,
          used: used.add,
        },
      );
    } catch (error) {
      failure = error ?? new Error("the responder failed");
    }
    await used.note(context);
    const result = await end(context, { sink, calls, failure });
    if (result === "ended" && failure === null && model !== null && deps.responder === undefined) {
      deps.titles?.offer(context.id, model);
    }
    return result;
  }

  /** Takes back what stands on nothing; gives what earlier attempts told and still holds, null where there were none. */
  async function standOn(context: JobContext, journal: Journal): Promise<ToldSoFar | null | "lostClaim"> {
    if (context.attempt === 1) return null;
    const { keptTextLength } = journal;
    if (keptTextLength !== null) {
      const kept = await throughOutage(context, () => rewindTurn(context.db, context, keptTextLength));
      if (kept === null) return "lostClaim";
    }
    return throughOutage(context, () => findTold(context.db, context.id));
  }

  async function end(
    context: JobContext,
    done: { readonly sink: AnswerSink; readonly calls: ToolCalls; readonly failure: unknown },
  ): Promise<HandlerResult> {
    await done.calls.settled();
    const aborted = context.signal.aborted;
    // A call that is handed over goes on: its display is not ended.
    const handsOver = done.failure !== null && jobCauseOf(context) === "handOver";
    const asks = done.calls.asks && !aborted;
    if (!handsOver && !asks) done.calls.close();
    if (done.failure === null && !asks) done.sink.close();
    const flushed = await done.sink.flush(aborted ? FLUSH_ABORTED_FOR_MS : FLUSH_FOR_MS).catch((error: unknown) => {
      context.log.warn({ err: error }, "the answer's last words could not be stored");
      // Without its last words it is no answer; an aborted one is not whole anyway.
      if (aborted || done.failure) return "stored" as const;
      throw error;
    });
    if (flushed === "lostClaim") return "lostClaim";
    if (asks) return waitForWord(context, "chat");
    if (done.failure === null) return write(context, "answered", "answered", null);
    return handsOver ? "handBack" : fail(context, done.failure);
  }

  async function write(context: JobContext, state: TurnEndState, cause: TurnCause, message: string | null) {
    const result = await context.endAtOnce((sql) => endTurn(sql, context, { state, cause, message }, false));
    // Also after a lost claim: it may be our own ending, saved before its answer got lost.
    context.db.notify("owl_turn", context.id);
    return result;
  }

  async function fail(context: JobContext, error: unknown): Promise<HandlerResult> {
    const cause = jobCauseOf(context);
    if (cause === "handOver") return "handBack";
    if (cause !== null) {
      const ending = turnEndOfAbort(cause);
      if (ending === null) return "lostClaim";
      const key = ending.cause === "limit" ? "turn.limit" : "turn.cut";
      const minutes = Math.round(deps.config.turn.limitMs / 60_000);
      return write(
        context,
        ending.state,
        ending.cause,
        ending.state === "failed" ? context.text(key, { minutes }) : null,
      );
    }
    if (error instanceof OwlError && error.code === "turn.lost") return "lostClaim";
    if (error instanceof OwlError) {
      context.log.warn({ err: error, code: error.code }, "turn failed");
      return write(context, "failed", "error", error.message);
    }
    context.log.error({ err: error }, "turn failed unexpectedly");
    return write(context, "failed", "error", context.text("turn.error"));
  }

  return { run, fail };
}

/** What is attached; its images for a model that looks at them, this question's first. */
async function filesOf({ db, id }: JobContext, accountId: string, vision: boolean): Promise<readonly AttachedFile[]> {
  const files = await listAttachedTexts(db, id, ATTACHED_CHARACTERS);
  const images = files.filter(({ isImage }) => isImage).map((file) => file.id);
  if (!vision || images.length === 0) return files;
  const read = await readImages(db, accountId, images, IMAGE_BYTES_GIVEN);
  return files.map((file) => {
    const image = read.get(file.id);
    return image === undefined ? file : { ...file, image };
  });
}

function toolsOf(
  all: Sources,
  names: readonly string[],
  assistant: Assistant | null,
  { db }: JobContext,
): readonly Tool[] {
  const sources = assistant === null ? all : onlySources(all, names);
  const tools = [
    createListTables(sources),
    createDescribeTable(sources),
    createRunSql(sources, names) as Tool,
    createSearchTranscripts(db) as Tool,
  ];
  return tools.filter(({ name }) => mayUse(assistant, name, names));
}
