// The HTTP tool: one request, on a connection of its own, never sent twice by us (no retry, no redirect followed).

import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { request as requestHttp } from "../../../config/http.ts";
import type { Clock } from "../../../config/time.ts";
import { isDeep, storableText } from "../../core/wire/json.ts";
import type { ActingCall, Outcome } from "./outcome.ts";
import { notAllowed, type Reach } from "./reach.ts";

const BODY_KEPT = 256 * 1024;
const DEFAULT_TIMEOUT_S = 120;

export interface HttpInput {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly timeoutSeconds?: number;
}

export interface HttpDeps {
  readonly clock: Clock;
  readonly reach: Reach;
}

/** Headers of the connection and of the message's length: ours to set. */
const OWN_HEADERS = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Sends it; `finished` is an answer below 300. */
export async function sendHttp(input: HttpInput, call: ActingCall, { clock, reach }: HttpDeps): Promise<Outcome> {
  const method = input.method ?? (input.body === undefined ? "GET" : "POST");
  const url = URL.parse(input.url);
  if (url === null || !/^https?:$/.test(url.protocol)) return { kind: "failed", reason: "The address is not one." };
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A name is judged by the look-up of the connection itself.
  if (isIP(host) !== 0 && !reach.allows(host, port, host)) {
    return { kind: "failed", reason: `${notAllowed(host, port)}.` };
  }
  // Some servers read `_` in a header's name as `-`.
  const plain = (name: string) => name.trim().toLowerCase().replaceAll("_", "-");
  const own = Object.keys(input.headers ?? {}).find((name) => OWN_HEADERS.has(plain(name)));
  if (own !== undefined) return { kind: "failed", reason: `The header ${own} cannot be set by a playbook.` };
  const isText = typeof input.body === "string";
  const payload =
    input.body === undefined ? null : Buffer.from(isText ? (input.body as string) : JSON.stringify(input.body));
  const given = Object.fromEntries(
    Object.entries(input.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  const headers = {
    "user-agent": "owl-playbook",
    accept: "application/json, text/*;q=0.9, */*;q=0.5",
    ...(payload === null ? {} : { "content-type": isText ? "text/plain; charset=utf-8" : "application/json" }),
    ...(method === "GET" || method === "HEAD" ? {} : { "idempotency-key": call.key }),
    ...given,
    ...(payload === null ? {} : { "content-length": String(payload.length) }),
  };
  const timeoutS = input.timeoutSeconds ?? DEFAULT_TIMEOUT_S;

  return new Promise<Outcome>((resolve) => {
    // Until a connection stands, nothing can have been done; from then on we cannot know.
    let connected = false;
    let sent: ReturnType<typeof requestHttp>;
    const broke = (reason: string): Outcome => (connected ? { kind: "unknown", reason } : { kind: "failed", reason });
    const settle = (outcome: Outcome) => {
      cancel();
      call.signal.removeEventListener("abort", onAbort);
      resolve(outcome);
      sent?.destroy();
    };
    const onAbort = () => settle(broke(`The call to ${url.host} was cut off.`));
    const cancel = clock.after(timeoutS * 1_000, () =>
      settle(broke(`${url.host} did not answer within ${timeoutS} s.`)),
    );
    call.signal.addEventListener("abort", onAbort, { once: true });
    try {
      sent = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
        method,
        headers,
        agent: false,
        lookup: reach.lookup(port),
      });
    } catch (error) {
      // A header that is none, for one: nothing was sent.
      settle({ kind: "failed", reason: (error as Error).message });
      return;
    }
    sent.on("socket", (socket) => {
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => {
        connected = true;
      });
    });
    sent.on("error", (error) => settle(broke(`${url.host}: ${error.message || "could not be reached"}.`)));
    sent.on("response", (response) => {
      readAnswer(response).then(
        (answer) => settle(judge(url.host, response, answer)),
        () => settle(broke(`${url.host} broke off its answer.`)),
      );
    });
    if (call.signal.aborted) onAbort();
    else sent.end(payload ?? undefined);
  });
}

async function readAnswer(response: IncomingMessage): Promise<{ body: unknown; cut: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let cut = false;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_KEPT) {
      chunks.push(chunk.subarray(0, chunk.length - (bytes - BODY_KEPT)));
      cut = true;
      break;
    }
    chunks.push(chunk);
  }
  // PostgreSQL's jsonb holds no NUL.
  const text = Buffer.concat(chunks).toString("utf8").replaceAll("\u0000", "");
  if (cut || !/json/i.test(response.headers["content-type"] ?? "") || isDeep(text)) return { body: text, cut };
  try {
    return { body: JSON.parse(text, storable), cut };
  } catch {
    return { body: text, cut };
  }
}

const storable = (_key: string, value: unknown) => (typeof value === "string" ? storableText(value) : value);

function judge(host: string, response: IncomingMessage, answer: { body: unknown; cut: boolean }): Outcome {
  const status = response.statusCode ?? 0;
  const { "content-type": type, location } = response.headers;
  const headers = { ...(type ? { "content-type": type } : {}), ...(location ? { location } : {}) };
  const output = { status, headers, body: answer.body, ...(answer.cut ? { cut: true } : {}) };
  if (status < 300) return { kind: "finished", output };
  // 502 and 504 are a gateway's: the one behind it may have acted.
  if (status === 502 || status === 504) return { kind: "unknown", reason: `${host} answered ${status}.` };
  return { kind: "failed", reason: `${host} answered ${status}.`, output };
}
