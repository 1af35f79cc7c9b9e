// A model behind any OpenAI-compatible endpoint, streamed, with tools, a step at a time. Invariants: its one signal ends
// the request, the tools and their SQL; whatever the endpoint does wrong becomes one clear sentence; an answer that is
// not whole says so, and one that is empty is none.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  type FinishReason,
  isStepCount,
  type LanguageModel,
  type ModelMessage,
  type Schema,
  streamText,
  type ToolSet,
  tool,
  zodSchema,
} from "ai";
import type { AppConfig } from "../../config/config.ts";
import { OwlError } from "../../config/errors.ts";
import { failure } from "../core/wire/errors.ts";
import type { Tool } from "../tools/tool.ts";
import { isTooLong, modelError } from "./failures.ts";
import { journalledModel } from "./journalled.ts";
import { type Mended, mendedFetch } from "./mended-answer.ts";
import { instructionsOf, messagesOf, SHORT, stepMessages, USUAL } from "./messages.ts";
import type { Answering, Question, Responder } from "./responder.ts";
import { watchSilence } from "./silence.ts";

const SILENCE_MS = 60_000;
/** After these it is asked once more, without tools. */
const STEPS = 16;
/** Of one step's thoughts; what comes after is not kept. */
const THOUGHT_CHARACTERS = 20_000;

/** What the steps of one turn share. */
interface Course {
  readonly chat: LanguageModel;
  readonly question: Question;
  readonly answering: Answering;
  readonly signal: AbortSignal;
  readonly heard: () => void;
}

interface Step {
  readonly finishReason: FinishReason;
  /** Tools were called: the model has to be asked again. */
  readonly called: boolean;
  readonly messages: readonly ModelMessage[];
}

/** Answers by the configured endpoint. */
export function createEndpointResponder(
  model: NonNullable<AppConfig["model"]>,
  options: { readonly silenceMs?: number } = {},
): Responder {
  return async (question, answering) => {
    const silence = watchSilence(answering.clock, options.silenceMs ?? SILENCE_MS, answering.runningTools);
    const mended: Mended = { linesLost: 0 };
    const provider = createOpenAICompatible({
      name: "endpoint",
      baseURL: model.baseUrl,
      fetch: mendedFetch(mended, answering.record?.traceparent),
      ...(model.apiKey === null ? {} : { apiKey: model.apiKey }),
      // Asked for only where it is needed: not every endpoint knows this word.
      ...(model.price === undefined ? {} : { includeUsage: true }),
    });
    const signal = AbortSignal.any([answering.signal, silence.signal]);
    try {
      const endpoint = provider(model.name);
      const chat = answering.record ? journalledModel(endpoint, answering.record) : endpoint;
      await takeSteps({ chat, question, answering, signal, heard: () => silence.heard() }, mended);
    } catch (error) {
      answering.signal.throwIfAborted();
      const { words } = answering;
      if (silence.signal.aborted) throw failure("model.failed", { why: words("model.silent") }, { cause: error });
      throw modelError(error, words);
    } finally {
      silence.stop();
    }
  };
}

async function takeSteps(course: Course, mended: Mended): Promise<void> {
  const { question, answering } = course;
  const { words } = answering;
  const taken: ModelMessage[] = [];
  let measure = USUAL;
  let said = { isAny: false, isNow: false };
  const text = (delta: string) => {
    // What it said before it called a tool is a paragraph of its own.
    if (said.isAny && !said.isNow && delta.trim() !== "") answering.text("\n\n");
    if (delta.trim() !== "") said = { isAny: true, isNow: true };
    answering.text(delta);
  };
  for (let n = 1; ; ) {
    const isLast = n > STEPS;
    said = { ...said, isNow: false };
    let step: Step;
    try {
      const messages = [...messagesOf(question, measure), ...stepMessages(taken, measure)];
      if (isLast) messages.push({ role: "user", content: words("model.lastStep") });
      step = await takeStep(course, { n, messages, isLast, text });
    } catch (error) {
      if (measure === SHORT || said.isNow || course.signal.aborted || !isTooLong(error)) throw error;
      measure = SHORT;
      continue;
    }
    const { finishReason } = step;
    const wasCut = finishReason === "length" || finishReason === "content-filter";
    if (step.called && !wasCut && !isLast) {
      taken.push(...step.messages);
      n += 1;
      continue;
    }
    if (!said.isNow) throw failure("model.failed", { why: words(emptyKey(finishReason, isLast), { steps: STEPS }) });
    const notes = [
      finishReason === "length" ? words("model.lengthCut") : "",
      finishReason === "content-filter" ? words("model.filtered") : "",
      mended.linesLost > 0 ? words("model.linesLost", { lines: mended.linesLost }) : "",
      measure === SHORT ? words("model.shortened") : "",
    ].filter((note) => note !== "");
    for (const note of notes) answering.text(`\n\n> ${note}`);
    return;
  }
}

function emptyKey(finishReason: FinishReason, isLast: boolean) {
  if (finishReason === "length") return "model.lengthEmpty";
  if (finishReason === "content-filter") return "model.filteredEmpty";
  return isLast ? "model.noAnswer" : "model.empty";
}

async function takeStep(
  { chat, question, answering, signal, heard }: Course,
  step: {
    readonly n: number;
    readonly messages: ModelMessage[];
    readonly isLast: boolean;
    readonly text: (delta: string) => void;
  },
): Promise<Step> {
  const temperature = question.assistant?.temperature ?? undefined;
  const result = streamText({
    model: chat,
    instructions: instructionsOf(question, answering.words),
    ...(temperature === undefined ? {} : { temperature }),
    messages: step.messages,
    ...(step.isLast ? {} : { tools: toolsOf(question, answering, signal) }),
    stopWhen: isStepCount(1),
    maxRetries: 3,
    abortSignal: signal,
    // What goes wrong is thrown below, once; the library would write it to the console too.
    onError: () => undefined,
  });
  const thought = createThought(`thought-${step.n}`, answering);
  let finishReason: FinishReason | null = null;
  let called = false;
  try {
    for await (const part of result.stream) {
      heard();
      if (part.type === "text-delta") step.text(part.text);
      else if (part.type === "reasoning-delta") thought.push(part.text);
      else if (part.type === "tool-call") called = true;
      else if (part.type === "error") throw part.error;
      else if (part.type === "abort") throw signal.reason;
      else if (part.type === "finish") {
        finishReason = part.finishReason;
        const { inputTokens = 0, outputTokens = 0 } = part.totalUsage;
        answering.used?.({ input: inputTokens, output: outputTokens });
      }
    }
    signal.throwIfAborted();
  } finally {
    thought.end();
  }
  if (finishReason === null || finishReason === "error") {
    throw failure("model.failed", { why: answering.words("model.garbage") });
  }
  return { finishReason, called, messages: await result.responseMessages };
}

/** Tells one step's thoughts: that there are some, and at its end what they were. */
function createThought(id: string, answering: Answering) {
  let text = "";
  return {
    push(delta: string): void {
      if (text === "") answering.thought({ id, state: "running", thought: "" });
      if (text.length < THOUGHT_CHARACTERS) text += delta;
    },
    end(): void {
      if (text === "") return;
      const kept = text.slice(0, THOUGHT_CHARACTERS).replaceAll("\u0000", "").toWellFormed();
      answering.thought({ id, state: "done", thought: kept });
    },
  };
}

// As JSON Schema an input is the same for every turn: translated once.
const schemas = new WeakMap<Tool["input"], Schema>();

function schemaOf(input: Tool["input"]): Schema {
  const schema = schemas.get(input) ?? zodSchema(input);
  schemas.set(input, schema);
  return schema;
}

function toolsOf(question: Question, answering: Answering, signal: AbortSignal): ToolSet {
  return Object.fromEntries(
    question.tools.map((one) => [
      one.name,
      tool({
        description: one.description,
        inputSchema: schemaOf(one.input),
        async execute(input: unknown) {
          try {
            return (await answering.call(one.name, input, signal)).value;
          } catch (error) {
            signal.throwIfAborted();
            // The model can act on what the tool says: another statement, another table.
            if (error instanceof OwlError) return { error: error.message, next: error.next };
            throw error;
          }
        },
      }),
    ]),
  ) as ToolSet;
}
