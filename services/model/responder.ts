// What answers a question: the model of an endpoint, or the built-in responder. Both use the same tools.

import type { Clock } from "../../config/time.ts";
import type { Assistant } from "../core/assistant.ts";
import type { AttachedFile } from "../core/attached-files.ts";
import type { Text } from "../text/text.ts";
import type { Tool, ToolOutput } from "../tools/tool.ts";

export interface Question {
  readonly text: string;
  /** Earlier turns of the conversation, oldest first; answer null: it has none. */
  readonly history: readonly { readonly text: string; readonly answer: string | null }[];
  /** Attached to this question and to earlier ones, this one's first; their texts are bounded together. */
  readonly files: readonly AttachedFile[];
  /** Names of the data sources, the default one first. */
  readonly sources: readonly string[];
  readonly tools: readonly Tool[];
  /** Of everyone, of the account, of the chat; absent: none. */
  readonly instructions?: readonly string[];
  /** Who is asked; null: nobody in particular. */
  readonly assistant?: Pick<Assistant, "name" | "instructions" | "temperature"> | null;
}

/** One step's thoughts; `thought` is told when they are over. */
export interface Thought {
  readonly id: string;
  readonly state: "running" | "done";
  readonly thought: string;
}

/** What is on record of the calls of the model, in order. */
export interface ModelRecord {
  /** The next call: what it gave, where that is on record; null: it is marked begun and is to be made. */
  begin(): Promise<unknown>;
  /** W3C `traceparent` of the call under way; null: its trace is not told. */
  traceparent?(): string | null;
  /** Keeps what it gave. */
  end(output: unknown): Promise<void>;
}

export interface Answering {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly words: Text;
  /** Takes the answer's text as it comes. */
  text(delta: string): void;
  /** Tells what the model thinks aloud: never part of the answer, nor of what later questions are given. */
  thought(thought: Thought): void;
  call(name: string, input: unknown, signal: AbortSignal): Promise<ToolOutput>;
  /** How many tools are running now. */
  runningTools(): number;
  /** Tells the tokens of one call of the model, made or taken from the record. */
  used?(tokens: { readonly input: number; readonly output: number }): void;
  /** Absent: calls of the model are kept nowhere. */
  readonly record?: ModelRecord;
}

/** Resolves when the answer is whole. Throws OwlError with a user's sentence as message, or the signal's reason. */
export type Responder = (question: Question, answering: Answering) => Promise<void>;
