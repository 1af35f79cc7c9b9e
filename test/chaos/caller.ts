// A client of the web API, through the proxy, that keeps a record of each request: when it was sent, how it ended.

import { Agent, request as sendRequest } from "node:http";
import { systemClock } from "../../config/system-time.ts";
import { PASSWORD } from "./product.ts";

export interface Answer {
  /** null: no answer came. */
  readonly status: number | null;
  // Answers are read where they are used; each reader checks what it needs.
  readonly body: Readonly<Record<string, unknown>>;
  readonly error: string | null;
  readonly retryAfter: string | null;
  readonly sentAt: number;
  readonly endedAt: number;
}

export interface Sending {
  readonly body?: unknown;
  /** A recording, sent as it is. */
  readonly raw?: Buffer;
  readonly key?: string;
  readonly timeoutMs?: number;
}

export interface Caller {
  /** One request, never repeated. */
  once(method: string, path: string, sending?: Sending): Promise<Answer>;
  /** Repeats until there is an answer that is not 5xx, or until `giveUpAt`. For reads, and for writes with a key. */
  insist(method: string, path: string, sending: Sending, giveUpAt: number): Promise<Answer>;
  cookie(): string;
  /** As the administrator, unless another is named. */
  signIn(name?: string, password?: string): Promise<boolean>;
  close(): void;
}

export function createCaller(port: number): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  let cookie = "";

  function once(method: string, path: string, sending: Sending = {}): Promise<Answer> {
    const sentAt = systemClock.now();
    const json = sending.body === undefined ? null : Buffer.from(JSON.stringify(sending.body));
    const payload = sending.raw ?? json;
    const headers = {
      cookie,
      ...(payload
        ? { "content-type": sending.raw ? "audio/wav" : "application/json", "content-length": payload.length }
        : {}),
      ...(sending.key ? { "idempotency-key": sending.key } : {}),
    };
    return new Promise((resolve) => {
      let over = false;
      const settle = (status: number | null, text: string, error: string | null, retryAfter: string | null = null) => {
        if (over) return;
        over = true;
        cancel();
        resolve({ status, body: parse(text), error, retryAfter, sentAt, endedAt: systemClock.now() });
      };
      // The whole exchange, not only silence: an answer that never ends is none.
      const cancel = systemClock.after(sending.timeoutMs ?? 40_000, () => {
        settle(null, "", "timeout");
        sent.destroy();
      });
      const sent = sendRequest({ host: "127.0.0.1", port, method, path, agent, headers }, (response) => {
        const given = (response.headers["set-cookie"] ?? []).map((one) => one.split(";")[0] ?? "");
        if (given.length > 0) cookie = given.join("; ");
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () =>
          settle(response.statusCode ?? null, text, null, response.headers["retry-after"] ?? null),
        );
        response.on("error", (error) => settle(null, "", error.message));
      });
      sent.on("error", (error: NodeJS.ErrnoException) => settle(null, "", error.code ?? error.message));
      sent.end(payload ?? undefined);
    });
  }

  return {
    once,
    async insist(method, path, sending, giveUpAt) {
      for (;;) {
        const answer = await once(method, path, { timeoutMs: 15_000, ...sending });
        const settled = answer.status !== null && answer.status < 500 && answer.status !== 429;
        if (settled || systemClock.now() > giveUpAt) return answer;
        await systemClock.sleep(300);
      }
    },
    cookie: () => cookie,
    async signIn(name = "admin", password = PASSWORD) {
      const answer = await once("POST", "/api/session", { body: { name, password } });
      return answer.status !== null && answer.status < 300;
    },
    close: () => agent.destroy(),
  };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Member `name` of an answer as a text; empty when it is none. */
export function textOf(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  return typeof value === "string" ? value : "";
}

/** Member `name` of an answer as a list of objects. */
export function listOf(body: Readonly<Record<string, unknown>>, name: string): readonly Record<string, unknown>[] {
  const value = body[name];
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
}
