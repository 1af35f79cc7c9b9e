// The control API over its Unix socket: one request, or a stream of JSON lines. owlctl's only way to owld.
// Invariant: every failure leaves as an OwlError with a code exit-codes.ts knows.

import type { IncomingMessage } from "node:http";
import type { Problem } from "../config/control-api.ts";
import { asError, OwlError } from "../config/errors.ts";
import { request as httpRequest } from "../config/http.ts";
import type { Language } from "../config/language.ts";
import type { FoundSocket } from "./find-socket.ts";

export interface ControlClient {
  readonly socket: string;
  get<T>(path: string): Promise<T>;
  send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<T>;
  text(path: string): Promise<string>;
  /** JSON lines as they come, of a POST where there is a body. Ends when the server ends the stream; throws `daemon.gone` when it breaks off. */
  lines<T>(path: string, signal: AbortSignal, body?: unknown): AsyncIterable<T>;
}

/** owld answers in milliseconds; this long without an answer means it hangs. Commands that work meanwhile stream. */
const ANSWER_MS = 30_000;
/** Unpacking and verifying a release comes before the answer. */
const STAGING_MS = 900_000;
const STAGES = /^\/v1\/(releases|updates|deploys)\b/;

/** Asks the owld at that socket, which answers its sentences in `language`. */
export function createClient(found: FoundSocket, language: Language): ControlClient {
  const call = (method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        "accept-language": language,
        ...(payload === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) }),
      };
      const request = httpRequest({ socketPath: found.path, method, path, headers, agent: false, signal }, resolve);
      if (signal === undefined) {
        const answerMs = STAGES.test(path) ? STAGING_MS : ANSWER_MS;
        request.setTimeout(answerMs, () =>
          request.destroy(
            new OwlError("daemon.silent", `owld does not answer on ${found.path} (waited ${answerMs / 1_000} s).`, {
              data: { socket: found.path, seconds: answerMs / 1_000 },
            }),
          ),
        );
      }
      request.on("error", (error) => reject(signal?.aborted ? signal.reason : connectError(error, found)));
      request.end(payload);
    });
  const whole = async (method: string, path: string, body?: unknown): Promise<string> => {
    const response = await call(method, path, body);
    const text = await readAll(response, found);
    if ((response.statusCode ?? 500) >= 400) throw problemError(text, response.statusCode ?? 500);
    return text;
  };
  return {
    socket: found.path,
    get: async <T>(path: string) => JSON.parse(await whole("GET", path)) as T,
    send: async <T>(method: string, path: string, body?: unknown) => {
      const text = await whole(method, path, body);
      return (text === "" ? null : JSON.parse(text)) as T;
    },
    text: (path) => whole("GET", path),
    async *lines<T>(path: string, signal: AbortSignal, body?: unknown) {
      const response = await call(body === undefined ? "GET" : "POST", path, body, signal);
      if ((response.statusCode ?? 500) >= 400)
        throw problemError(await readAll(response, found), response.statusCode ?? 500);
      yield* jsonLines<T>(response, found, signal);
    },
  };
}

async function* jsonLines<T>(response: IncomingMessage, found: FoundSocket, signal: AbortSignal): AsyncGenerator<T> {
  let rest = "";
  response.setEncoding("utf8");
  try {
    for await (const chunk of response) {
      rest += chunk;
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 1);
        if (line.trim() === "") continue;
        const value = JSON.parse(line) as { readonly problem?: Partial<Problem> };
        // A failure in the middle of a stream comes as its last line.
        if (value.problem !== undefined) throw problemError(JSON.stringify(value.problem), 500);
        yield value as T;
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof OwlError ? error : gone(error, found);
  } finally {
    response.destroy();
  }
}

async function readAll(response: IncomingMessage, found: FoundSocket): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  try {
    for await (const chunk of response) text += chunk;
  } catch (error) {
    throw gone(error, found);
  }
  return text;
}

function gone(error: unknown, found: FoundSocket): OwlError {
  return new OwlError("daemon.gone", `owld went away in the middle of its answer (${found.path}).`, { cause: error });
}

function connectError(error: Error, found: FoundSocket): Error {
  if (error instanceof OwlError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? asError(error).message;
  const data = { socket: found.path, by: found.by, reason: code };
  if (code === "EACCES" || code === "EPERM")
    return new OwlError("daemon.denied", `You may not use ${found.path}.`, { data, cause: error });
  if (code === "ECONNRESET" || code === "EPIPE") return gone(error, found);
  return new OwlError("daemon.unreachable", `owld is not reachable on ${found.path} (${code}).`, {
    data,
    cause: error,
  });
}

/** The problem document of the control API as the error it was; anything else as a bare failure. */
function problemError(text: string, status: number): OwlError {
  let problem: Partial<Problem> = {};
  try {
    problem = JSON.parse(text) as Partial<Problem>;
  } catch {
    // A body that is no JSON comes from something that is not owld; its first line is all there is to say.
  }
  return new OwlError(
    problem.code ?? "daemon.failed",
    problem.detail ?? problem.title ?? `owld answered ${status}: ${text.slice(0, 200)}`,
    {
      next: problem.next,
      data: problem.data,
    },
  );
}
