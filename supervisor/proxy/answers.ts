// The one translator from a reason to the proxy's own answer: status, Retry-After, a page for browsers, text otherwise.

import { acceptedLanguage } from "../../config/language.ts";

export type AnswerReason = keyof typeof ANSWERS;

interface AnswerRow {
  readonly status: number;
  readonly phrase: string;
  readonly retryAfterS?: number;
  readonly en: string;
  readonly ko: string;
}

const UNAVAILABLE_EN = "The service is not available at the moment. Please try again shortly.";
const UNAVAILABLE_KO = "지금은 서비스를 이용할 수 없습니다. 잠시 후 다시 시도해 주세요.";

const ANSWERS = {
  badRequest: {
    status: 400,
    phrase: "Bad Request",
    en: "The request could not be understood.",
    ko: "요청을 이해할 수 없습니다.",
  },
  noRoute: {
    status: 404,
    phrase: "Not Found",
    en: "Nothing is served at this address.",
    ko: "이 주소에서 제공하는 서비스가 없습니다.",
  },
  connectMethod: {
    status: 405,
    phrase: "Method Not Allowed",
    en: "This server opens no tunnels.",
    ko: "이 서버는 터널을 열지 않습니다.",
  },
  headersTooSlow: {
    status: 408,
    phrase: "Request Timeout",
    en: "The request took too long to arrive.",
    ko: "요청이 도착하는 데 너무 오래 걸렸습니다.",
  },
  bodyTooLarge: {
    status: 413,
    phrase: "Content Too Large",
    en: "The request body is larger than this address accepts.",
    ko: "요청 본문이 이 주소에서 받을 수 있는 크기보다 큽니다.",
  },
  expectationFailed: {
    status: 417,
    phrase: "Expectation Failed",
    en: "This server knows no expectation but 100-continue.",
    ko: "이 서버는 100-continue 외의 Expect 값을 알지 못합니다.",
  },
  headerTooLarge: {
    status: 431,
    phrase: "Request Header Fields Too Large",
    en: "The request's headers are larger than this server accepts.",
    ko: "요청 헤더가 이 서버에서 받을 수 있는 크기보다 큽니다.",
  },
  notImplemented: {
    status: 501,
    phrase: "Not Implemented",
    en: "This server does not know the request's transfer coding or method.",
    ko: "이 서버는 요청의 전송 부호화나 메서드를 알지 못합니다.",
  },
  versionNotSupported: {
    status: 505,
    phrase: "HTTP Version Not Supported",
    en: "This server speaks HTTP/1.1 and HTTP/1.0.",
    ko: "이 서버는 HTTP/1.1과 HTTP/1.0을 사용합니다.",
  },
  failedAfterSend: {
    status: 502,
    phrase: "Bad Gateway",
    retryAfterS: 1,
    en: "The service broke off before it answered. The request may have been carried out.",
    ko: "서비스가 응답하기 전에 연결이 끊겼습니다. 요청이 처리되었을 수도 있습니다.",
  },
  badResponse: {
    status: 502,
    phrase: "Bad Gateway",
    retryAfterS: 1,
    en: "The service gave an answer that could not be understood.",
    ko: "서비스의 응답을 이해할 수 없습니다.",
  },
  allRefused: { status: 502, phrase: "Bad Gateway", retryAfterS: 1, en: UNAVAILABLE_EN, ko: UNAVAILABLE_KO },
  connectionCap: { status: 503, phrase: "Service Unavailable", retryAfterS: 1, en: UNAVAILABLE_EN, ko: UNAVAILABLE_KO },
  noneReady: { status: 503, phrase: "Service Unavailable", retryAfterS: 1, en: UNAVAILABLE_EN, ko: UNAVAILABLE_KO },
  closed: {
    status: 503,
    phrase: "Service Unavailable",
    retryAfterS: 10,
    en: "The service is being updated and will be back shortly.",
    ko: "서비스를 업데이트하고 있습니다. 잠시 후 다시 이용할 수 있습니다.",
  },
  allTimedOut: { status: 504, phrase: "Gateway Timeout", retryAfterS: 1, en: UNAVAILABLE_EN, ko: UNAVAILABLE_KO },
} as const satisfies Record<string, AnswerRow>;

export interface AnswerContext {
  readonly accept: string | null;
  readonly acceptLanguage: string | null;
  readonly requestId: string | null;
  /** Overrides the table's Retry-After, in seconds (a closed route knows better). */
  readonly retryAfterS?: number;
}

interface Answer {
  readonly status: number;
  readonly phrase: string;
  /** Flat list of names and values, framing included; Connection is the caller's. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export const NO_CONTEXT: AnswerContext = { accept: null, acceptLanguage: null, requestId: null };

/** Does this answer count as a failure of ours (502, 503, 504)? */
export function isFailure(reason: AnswerReason): boolean {
  const { status } = ANSWERS[reason];
  return status === 502 || status === 503 || status === 504;
}

const ENDING: ReadonlySet<AnswerReason> = new Set([
  "badRequest",
  "notImplemented",
  "versionNotSupported",
  "expectationFailed",
  "connectMethod",
  "headersTooSlow",
  "headerTooLarge",
  "bodyTooLarge",
]);

/** Does the connection end with this answer? What follows on it could not be trusted, or was not read. */
export function endsConnection(reason: AnswerReason): boolean {
  return ENDING.has(reason);
}

/** The whole answer for `reason`; never throws. */
export function answerFor(reason: AnswerReason, context: AnswerContext): Answer {
  const row: AnswerRow = ANSWERS[reason];
  const korean = acceptedLanguage(context.acceptLanguage?.slice(0, 500)) === "ko";
  const sentence = korean ? row.ko : row.en;
  const html = context.accept?.includes("text/html") ?? false;
  const body = Buffer.from(html ? page(row, sentence, korean, context.requestId) : `${sentence}\n`);
  const headers = [
    "Content-Type",
    html ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
    "Content-Language",
    korean ? "ko" : "en",
    "Cache-Control",
    "no-store",
  ];
  const retryAfterS = row.retryAfterS === undefined ? undefined : (context.retryAfterS ?? row.retryAfterS);
  if (retryAfterS !== undefined) headers.push("Retry-After", String(retryAfterS));
  if (row.status === 405) headers.push("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  if (html) headers.push("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
  if (context.requestId !== null) headers.push("X-Request-Id", context.requestId);
  headers.push("Content-Length", String(body.length));
  return { status: row.status, phrase: row.phrase, headers, body };
}

/** The answer as raw HTTP/1.1 bytes that end the connection. */
export function rawAnswer(reason: AnswerReason, context: AnswerContext, isHead = false): Buffer {
  const answer = answerFor(reason, context);
  let head = `HTTP/1.1 ${answer.status} ${answer.phrase}\r\n`;
  for (let at = 0; at < answer.headers.length; at += 2) head += `${answer.headers[at]}: ${answer.headers[at + 1]}\r\n`;
  head += "Connection: close\r\n\r\n";
  return isHead ? Buffer.from(head) : Buffer.concat([Buffer.from(head), answer.body]);
}

function page(row: AnswerRow, sentence: string, korean: boolean, requestId: string | null): string {
  const id = requestId === null ? "" : `<p class="id">${row.status} · ${requestId.replace(/[^\w.:-]/g, "")}</p>`;
  return `<!doctype html>
<html lang="${korean ? "ko" : "en"}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${row.status} ${row.phrase}</title>
<style>:root{color-scheme:light dark}body{font:1.1rem/1.6 system-ui,sans-serif;max-width:34rem;margin:20vh auto 0;padding:0 1.5rem}.id{opacity:.7;font-size:.8rem}</style></head>
<body><main><p>${sentence}</p>${id}</main></body></html>
`;
}
