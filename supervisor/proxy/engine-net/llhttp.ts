// llhttp, as WebAssembly from undici (exact version pinned; a test fails when it moves): who frames every message here.
// Strict: no lenient flag is ever set. Invariant: callbacks run only inside `run`, for the one parser `current`.

import { createRequire } from "node:module";
import { invariant } from "../../../config/errors.ts";
import type { HeadView } from "../core/head-view.ts";
import { latin1Of } from "./read-buffers.ts";

interface LlhttpExports {
  readonly memory: WebAssembly.Memory;
  readonly _initialize?: () => void;
  readonly malloc: (bytes: number) => number;
  readonly llhttp_alloc: (type: number) => number;
  readonly llhttp_reset: (parser: number) => void;
  readonly llhttp_execute: (parser: number, at: number, length: number) => number;
  readonly llhttp_resume: (parser: number) => void;
  readonly llhttp_resume_after_upgrade: (parser: number) => void;
  readonly llhttp_get_error_pos: (parser: number) => number;
  readonly llhttp_get_error_reason: (parser: number) => number;
  readonly llhttp_get_http_major: (parser: number) => number;
  readonly llhttp_get_http_minor: (parser: number) => number;
}

const OK = 0;
const PAUSED = 21;
const PAUSED_UPGRADE = 22;
const FAIL = -1;
/** Skip the body: who asked counts it itself. */
const SKIP_BODY = 1;
const INPUT_BYTES = 64 * 1024;
/** Chunk extensions and size lines may cost this much, and this much more per body byte, before the message is refused. */
const FRAMING_BYTES = 64 * 1024;
const FRAMING_PER_BODY_BYTE = 16;

/** Of a head let go; never written to. */
const NO_SPANS: number[] = [];

const require = createRequire(import.meta.url);
/** The exact undici this file was written against. */
export const LLHTTP_SOURCE = "undici/lib/llhttp/llhttp_simd-wasm.js";

let current: MessageParser | null = null;

const wasm = loadWasm();
const input = wasm.malloc(INPUT_BYTES);
let memory = Buffer.from(wasm.memory.buffer);
const free: { readonly request: number[]; readonly response: number[] } = { request: [], response: [] };

function loadWasm(): LlhttpExports {
  const module = new WebAssembly.Module(require(LLHTTP_SOURCE) as BufferSource);
  const now = (): MessageParser => {
    invariant(current !== null, "llhttp calls back only while it runs");
    return current;
  };
  const instance = new WebAssembly.Instance(module, {
    env: {
      wasm_on_message_begin: () => 0,
      wasm_on_url: (_parser: number, at: number, length: number) => now().onLine(at, length),
      wasm_on_status: (_parser: number, at: number, length: number) => now().onLine(at, length),
      wasm_on_header_field: (_parser: number, at: number, length: number) => now().onName(at, length),
      wasm_on_header_value: (_parser: number, at: number, length: number) => now().onValue(at, length),
      wasm_on_headers_complete: (_parser: number, status: number, upgrade: number) => now().onHead(status, upgrade),
      wasm_on_body: (_parser: number, at: number, length: number) => now().onBody(at, length),
      wasm_on_message_complete: () => now().onComplete(),
    },
  });
  const exports = instance.exports as unknown as LlhttpExports;
  exports._initialize?.();
  return exports;
}

/** What `run` stopped for. */
type ParseState =
  /** All bytes taken, the message goes on. */
  | "more"
  /** The message is over (or its body is the caller's to count). */
  | "complete"
  | "failed"
  /** The head is larger than its limit. */
  | "tooLarge";

/** Decides, when a head is complete: let llhttp frame the body, or leave it to the caller, or refuse. */
export type HeadVerdict = "parseBody" | "countBody" | "refuse";

export interface HeadJudge {
  /** Called inside `run`; must not run another parser. */
  judgeHead(): HeadVerdict;
}

/** One side of one connection. */
export class MessageParser {
  readonly #kind: "request" | "response";
  readonly #headLimit: number;
  #judge: HeadJudge | null;
  #parser: number;

  /** Head text and header positions of the message under way (see core/head-view.ts). */
  text = "";
  spans: number[] = [];
  /** URL or reason phrase: positions in `text`. */
  lineStart = 0;
  lineEnd = 0;
  status = 0;
  isUpgrade = false;
  headDone = false;
  /** Body parts of the chunk given last: start, end, start, end in that chunk. */
  readonly body: number[] = [];
  /** Where `run` stopped, in the chunk. */
  consumed = 0;

  #chunk: Buffer | null = null;
  #from = 0;
  /** Added to a wasm address: position in `text`. */
  #toText = 0;
  /** Added to a wasm address: position in the chunk. */
  #toChunk = 0;
  #before: Buffer | null = null;
  #headBytes = 0;
  #framingBytes = 0;
  #bodyBytes = 0;
  #paused = 0;
  #stop: "complete" | "refused" | null = null;
  #trailers = false;
  #trailerText = "";
  #trailerSpans: number[] = NO_SPANS;
  #trailerBytes = 0;
  #lastWasName = false;
  #lineOpen = false;

  constructor(kind: "request" | "response", headLimit: number, judge: HeadJudge) {
    this.#kind = kind;
    this.#headLimit = headLimit;
    this.#judge = judge;
    this.#parser = free[kind].pop() ?? wasm.llhttp_alloc(kind === "request" ? 1 : 2);
  }

  get major(): number {
    return wasm.llhttp_get_http_major(this.#parser);
  }

  get minor(): number {
    return wasm.llhttp_get_http_minor(this.#parser);
  }

  /** True while a head has begun and is not complete. */
  get inHead(): boolean {
    return !this.headDone && this.#headBytes > 0;
  }

  /** The message's trailers, or null. */
  get trailers(): HeadView | null {
    return this.#trailers ? { text: this.#trailerText, spans: this.#trailerSpans } : null;
  }

  /** Why it failed, in llhttp's words. */
  get failure(): string {
    const at = wasm.llhttp_get_error_reason(this.#parser);
    if (at === 0) return "not HTTP";
    const bytes = Buffer.from(wasm.memory.buffer);
    return bytes.toString("latin1", at, bytes.indexOf(0, at));
  }

  /** Lets go of the head's text, which a long body or stream would keep in memory. */
  forgetHead(): void {
    this.text = "";
    this.spans = NO_SPANS;
  }

  /** Forgets the message; the next bytes begin another one. */
  next(): void {
    this.spans = [];
    this.text = "";
    this.headDone = false;
    this.body.length = 0;
    this.#before = null;
    this.#headBytes = 0;
    this.#framingBytes = 0;
    this.#bodyBytes = 0;
    this.#trailers = false;
    this.#stop = null;
    this.lineStart = 0;
    this.lineEnd = 0;
    this.#lineOpen = false;
  }

  /** As new, for another connection. */
  restart(judge: HeadJudge): void {
    wasm.llhttp_reset(this.#parser);
    this.#paused = 0;
    this.#judge = judge;
    this.next();
  }

  /** Until `restart`: nothing of the connection is kept. */
  rest(): void {
    this.#judge = null;
    this.#before = null;
    this.#trailers = false;
    this.#trailerSpans = NO_SPANS;
    this.#trailerText = "";
    this.forgetHead();
  }

  /** The parser's place in wasm memory is given back; never use it again. */
  close(): void {
    if (this.#parser === 0) return;
    wasm.llhttp_reset(this.#parser);
    free[this.#kind].push(this.#parser);
    this.#parser = 0;
    this.#chunk = null;
    this.#before = null;
  }

  /** Takes chunk[from, to). `body` and `consumed` tell what came out. */
  run(chunk: Buffer, from: number, to: number): ParseState {
    invariant(this.#parser !== 0, "a closed parser is not run");
    this.body.length = 0;
    let at = from;
    while (at < to) {
      const step = Math.min(to - at, INPUT_BYTES);
      const state = this.#step(chunk, at, at + step);
      at = this.consumed;
      if (state !== "more") return state;
    }
    return "more";
  }

  #step(chunk: Buffer, from: number, to: number): ParseState {
    if (memory.buffer !== wasm.memory.buffer) memory = Buffer.from(wasm.memory.buffer);
    chunk.copy(memory, input, from, to);
    if (this.#paused === PAUSED) wasm.llhttp_resume(this.#parser);
    else if (this.#paused === PAUSED_UPGRADE) wasm.llhttp_resume_after_upgrade(this.#parser);
    this.#paused = 0;
    this.#chunk = chunk;
    this.#from = from;
    this.#toChunk = from - input;
    this.#toText = this.#headBytes - input;
    const headWasDone = this.headDone;
    const bodyBefore = this.#bodyBytes;
    current = this;
    const errno = wasm.llhttp_execute(this.#parser, input, to - from);
    current = null;
    this.#chunk = null;
    if (errno === OK) this.consumed = to;
    else if (errno === PAUSED || errno === PAUSED_UPGRADE) {
      this.#paused = errno;
      this.consumed = wasm.llhttp_get_error_pos(this.#parser) + this.#toChunk;
    } else {
      this.consumed = from;
      return this.#headBytes + (to - from) > this.#headLimit && !this.headDone ? "tooLarge" : "failed";
    }
    const taken = this.consumed - from;
    if (!headWasDone && !this.headDone) {
      this.#headBytes += taken;
      if (this.#headBytes > this.#headLimit) return "tooLarge";
      const part = chunk.subarray(from, this.consumed);
      this.#before = this.#before === null ? Buffer.from(part) : Buffer.concat([this.#before, part]);
    } else if (headWasDone) {
      this.#framingBytes += taken - (this.#bodyBytes - bodyBefore);
      if (this.#framingBytes > FRAMING_BYTES + FRAMING_PER_BODY_BYTE * this.#bodyBytes) return "failed";
    }
    return this.#stop === "complete" ? "complete" : "more";
  }

  onLine(at: number, length: number): number {
    const start = at + this.#toText;
    if (this.lineEnd === start && this.spans.length === 0 && this.#lineOpen) this.lineEnd += length;
    else {
      this.lineStart = start;
      this.lineEnd = start + length;
      this.#lineOpen = true;
    }
    return OK;
  }

  onName(at: number, length: number): number {
    if (this.headDone) return this.#onTrailer(at, length, true);
    return this.#addSpan(at + this.#toText, length, true);
  }

  onValue(at: number, length: number): number {
    if (this.headDone) return this.#onTrailer(at, length, false);
    return this.#addSpan(at + this.#toText, length, false);
  }

  /** Appends a piece; llhttp gives a name or value in several pieces when it was split between reads. */
  #addSpan(start: number, length: number, isName: boolean): number {
    const { spans } = this;
    const phase = spans.length & 3;
    // phase 2: a name without its value yet; phase 0: complete.
    if (isName) {
      if (phase === 2) {
        if (spans[spans.length - 1] === start) {
          spans[spans.length - 1] = start + length;
          return OK;
        }
        const end = spans[spans.length - 1] ?? 0;
        spans.push(end, end);
      }
      spans.push(start, start + length);
    } else if (phase === 2) {
      spans.push(start, start + length);
    } else if (spans.length > 0) {
      // White space inside a split value may lie between the pieces: the value reaches over it.
      spans[spans.length - 1] = start + length;
    }
    return OK;
  }

  #onTrailer(at: number, length: number, isName: boolean): number {
    if (!this.#trailers) {
      this.#trailers = true;
      this.#trailerSpans = [];
      this.#trailerText = "";
      this.#trailerBytes = 0;
    }
    this.#trailerBytes += length;
    if (this.#trailerBytes > this.#headLimit) return FAIL;
    // Trailers are rare and small: the pieces are copied out one by one.
    const piece = memory.toString("latin1", at, at + length);
    const spans = this.#trailerSpans;
    const start = this.#trailerText.length;
    const phase = spans.length & 3;
    const continues = isName ? phase === 2 && this.#lastWasName : phase === 0 && !this.#lastWasName;
    if (continues && spans.length > 0) {
      // The separator written behind the piece before is taken back.
      this.#trailerText = this.#trailerText.slice(0, spans[spans.length - 1]) + piece;
      spans[spans.length - 1] = this.#trailerText.length;
    } else {
      this.#trailerText += piece;
      spans.push(start, start + length);
    }
    this.#trailerText += isName ? ": " : "\r\n";
    this.#lastWasName = isName;
    return OK;
  }

  onHead(status: number, upgrade: number): number {
    const { spans } = this;
    if ((spans.length & 3) === 2) {
      const end = spans[spans.length - 1] ?? 0;
      spans.push(end, end);
    }
    this.status = status;
    this.isUpgrade = upgrade === 1;
    this.#lineOpen = false;
    const last = spans.length > 0 ? (spans[spans.length - 1] ?? 0) : this.lineEnd;
    // The request's method and version stand outside the URL: the text begins with the message itself.
    if (last > this.#headLimit) {
      this.#headBytes = last;
      return FAIL;
    }
    const chunk = this.#chunk;
    invariant(chunk !== null, "llhttp runs over a chunk");
    const before = this.#before;
    this.text =
      before === null
        ? latin1Of(chunk, this.#from, this.#from + last)
        : latin1Of(before, 0, before.length) +
          latin1Of(chunk, this.#from, this.#from + Math.max(0, last - before.length));
    this.#before = null;
    this.headDone = true;
    const verdict = this.#judge?.judgeHead() ?? "refuse";
    if (verdict === "refuse") {
      this.#stop = "refused";
      return FAIL;
    }
    return verdict === "countBody" ? SKIP_BODY : OK;
  }

  onBody(at: number, length: number): number {
    this.#bodyBytes += length;
    const start = at + this.#toChunk;
    this.body.push(start, start + length);
    return OK;
  }

  onComplete(): number {
    this.#stop = "complete";
    return PAUSED;
  }
}
