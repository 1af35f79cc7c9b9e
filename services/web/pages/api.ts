// Talking to the web API. Invariants: every failure is an ApiError that says who failed (problem code, or "network");
// reads are tried again while an instance is being replaced, writes only under an Idempotency-Key.

import type { Problem } from "../../../config/control-api.ts";
import { browserClock, fetchWithClock } from "./browser-time.ts";

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The problem's stable code; "network" when no answer came. */
  readonly code: string;
  readonly next: string | null;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: string,
    message: string,
    next: string | null = null,
    data: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.next = next;
    this.data = data;
  }
}

interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly body?: unknown;
  /** Makes a write repeatable: tried again on a broken connection. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

let onSignedOut: () => void = () => undefined;

/** `run` is called when the server says that nobody is signed in (401). */
export function whenSignedOut(run: () => void): void {
  onSignedOut = run;
}

const TRIES_MS = [300, 1_000, 2_000];

/** The answer's JSON (null for none). Throws ApiError. */
export async function call<T>(path: string, options: Call = {}): Promise<T> {
  const method = options.method ?? "GET";
  const mayRepeat = method === "GET" || options.key !== undefined;
  for (let attempt = 0; ; attempt++) {
    const wait = mayRepeat ? TRIES_MS[attempt] : undefined;
    try {
      return await once<T>(path, method, options);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      if (!(error instanceof ApiError) || wait === undefined) throw error;
      if (error.code !== "network" && error.status !== 502 && error.status !== 503 && error.status !== 504) throw error;
      await browserClock.sleep(wait, options.signal);
    }
  }
}

async function once<T>(path: string, method: string, options: Call): Promise<T> {
  let response: Response;
  try {
    response = await fetchWithClock(path, {
      method,
      headers: {
        accept: "application/json",
        ...options.headers,
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...(options.key === undefined ? {} : { "idempotency-key": options.key }),
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal ? { signal: options.signal } : {}),
      credentials: "same-origin",
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, "network", "network");
  }
  if (!response.ok) throw await problemOf(response);
  const text = await response.text();
  return (text === "" ? null : JSON.parse(text)) as T;
}

/** The ApiError of a failed answer; a 401 also tells whoever shows the sign-in page. */
export async function problemOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  let problem: Partial<Problem> = {};
  try {
    problem = JSON.parse(text) as Partial<Problem>;
  } catch {
    // The proxy answers in plain text: the status says enough.
  }
  const { code = `http.${response.status}`, detail = `HTTP ${response.status}`, next = null, data = {} } = problem;
  if (response.status === 401 && !code.match(/^session\.(?:wrong|code)$/)) onSignedOut();
  return new ApiError(response.status, code, detail, next, data);
}
