// The one translator from an endpoint's failures to a user's sentence.

import { APICallError, RetryError } from "ai";
import { OwlError } from "../../config/errors.ts";
import { failure } from "../core/wire/errors.ts";
import type { Text } from "../text/text.ts";

/** What went wrong, as an error with a user's sentence. */
export function modelError(error: unknown, words: Text): OwlError {
  if (error instanceof OwlError) return error;
  const call = lastCall(error);
  if (isTooLong(error)) return failure("model.failed", { why: words("model.tooLong") }, { cause: error });
  if (APICallError.isInstance(call)) {
    const { statusCode: status } = call;
    const key =
      status === 401 || status === 403
        ? "model.key"
        : status === 429
          ? "model.busy"
          : status === undefined
            ? "model.away"
            : status >= 200 && status < 300
              ? "model.garbage"
              : "model.status";
    return failure("model.failed", { why: words(key, { status: status ?? 0 }) }, { cause: error });
  }
  return failure("model.failed", { why: words("model.garbage") }, { cause: error });
}

// There is no status for it: each server says it in words of its own, most of them with 400, some in the stream.
const TOO_LONG =
  /context[_ ]?(?:length|window|size)|(?:prompt|input|request) is too (?:long|large)|too many tokens|maximum number of tokens|reduce the length|too large for model/i;
const LOOKED_AT = 4_000;

/** The endpoint says that it was given more than the model can take. */
export function isTooLong(error: unknown): boolean {
  const call = lastCall(error);
  if (APICallError.isInstance(call)) {
    const { statusCode: status = 0, responseBody } = call;
    return status === 413 || (status >= 400 && status !== 429 && saysTooLong(responseBody));
  }
  // Told in the stream: an error object of the endpoint's, as the library hands it on.
  const { message, code, type } = Object(call) as { message?: unknown; code?: unknown; type?: unknown };
  return saysTooLong(`${message} ${code} ${type}`);
}

const saysTooLong = (text: string | undefined): boolean => TOO_LONG.test(text?.slice(0, LOOKED_AT) ?? "");

function lastCall(error: unknown): unknown {
  return RetryError.isInstance(error) ? error.lastError : error;
}
