// A recogniser behind an OpenAI-compatible `/audio/transcriptions`. Invariant: a busy or broken endpoint is asked a
// bounded number of times and then named in the error; no answer of it, however odd, is taken for text unchecked.

import { openAsBlob } from "node:fs";
import { OwlError } from "../../../config/errors.ts";
import type { Clock } from "../../../config/time.ts";
import { cleanText } from "../../core/transcript.ts";
import { failure } from "../../core/wire/errors.ts";
import type { Engine, SegmentRequest } from "./recogniser.ts";

const TRIES = 5;
const ANSWER_MS = 300_000;
const MAX_WAIT_MS = 60_000;
const ANSWER_LIMIT = 4 * 2 ** 20;

interface EndpointOptions {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string | null;
}

type Answer =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "again"; readonly why: string; readonly afterMs: number | null };

/** Asks that endpoint. */
export function createEndpointEngine(options: EndpointOptions, clock: Clock): Engine {
  const url = `${options.baseUrl.replace(/\/{1,9}$/, "")}/audio/transcriptions`;
  const where = new URL(url).host;

  async function ask(request: SegmentRequest): Promise<Answer> {
    const form = new FormData();
    form.set("file", await openAsBlob(request.file, { type: "audio/wav" }), "segment.wav");
    form.set("model", options.model ?? "whisper-1");
    form.set("response_format", "json");
    if (request.language !== null) form.set("language", request.language);
    const late = new AbortController();
    const cancel = clock.after(ANSWER_MS, () => late.abort(), { unref: true });
    try {
      const response = await fetch(url, {
        method: "POST",
        body: form,
        headers: options.apiKey === null ? {} : { authorization: `Bearer ${options.apiKey}` },
        signal: AbortSignal.any([request.signal, late.signal]),
        redirect: "error",
      });
      const body = await readLimited(response);
      if (response.status === 401 || response.status === 403) {
        throw failure("engine.refused", { where, status: response.status });
      }
      if (response.status === 429 || response.status >= 500) {
        const why = `${where} answered ${response.status}`;
        return { kind: "again", why, afterMs: retryAfterMs(response.headers.get("retry-after"), clock.now()) };
      }
      if (!response.ok) {
        throw failure("engine.failed", { where, status: response.status, why: shown(body) });
      }
      return { kind: "text", text: readText(body, where) };
    } catch (error) {
      if (error instanceof OwlError) throw error;
      request.signal.throwIfAborted();
      if (late.signal.aborted) return { kind: "again", why: `${where} did not answer in time`, afterMs: null };
      return { kind: "again", why: `${where} could not be reached or broke off`, afterMs: null };
    } finally {
      cancel();
    }
  }

  return {
    name: where,
    async transcribe(request) {
      for (let tries = 1; ; tries++) {
        const answer = await ask(request);
        if (answer.kind === "text") return answer.text;
        if (tries >= TRIES || (answer.afterMs ?? 0) > MAX_WAIT_MS) {
          throw failure("engine.away", { why: answer.why });
        }
        const waitMs = answer.afterMs ?? Math.min(MAX_WAIT_MS, 500 * 2 ** tries);
        await clock.sleep(waitMs, AbortSignal.any([request.signal, request.hurry]));
      }
    },
  };
}

/** Milliseconds of a Retry-After header (seconds or a date); null without a usable one. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,6}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

async function readLimited(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > ANSWER_LIMIT) throw failure("engine.failed#large");
  }
  return text + decoder.decode();
}

function readText(body: string, where: string): string {
  try {
    const { text } = JSON.parse(body) as { text?: unknown };
    if (typeof text === "string") return cleanText(text);
  } catch {
    // Falls through to the one refusal below.
  }
  throw failure("engine.failed#odd", { where });
}

const shown = (body: string) => body.replace(/\s+/g, " ").slice(0, 200);
