// A small working control API over a Unix socket: answers by route, streams lines, goes away and comes back.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Problem, Rollout, RolloutLine, Status } from "../../config/control-api.ts";

export type Answer = (request: IncomingMessage, response: ServerResponse, body: unknown) => void | Promise<void>;

export interface FakeOwld {
  readonly home: string;
  readonly socket: string;
  /** `POST /v1/rollouts` and the body, in order. */
  readonly calls: { readonly call: string; readonly body: unknown }[];
  on(call: string, answer: Answer | object): void;
  /** Cuts every connection and stops listening, as kill -9 does. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** Starts one with its home below the temporary directory. */
export async function startFakeOwld(): Promise<FakeOwld> {
  const home = mkdtempSync(join(tmpdir(), "owl-fake-"));
  mkdirSync(join(home, "run"));
  const socket = join(home, "run/control.sock");
  const answers = new Map<string, Answer | object>();
  const calls: { call: string; body: unknown }[] = [];
  let server: Server | null = null;

  const listen = async () => {
    rmSync(socket, { force: true });
    const created = createServer(async (request, response) => {
      const path = (request.url ?? "").split("?")[0];
      const call = `${request.method} ${path}`;
      let text = "";
      for await (const chunk of request) text += chunk;
      const body: unknown = text === "" ? null : JSON.parse(text);
      calls.push({ call: `${request.method} ${request.url}`, body });
      const answer = answers.get(call);
      if (typeof answer === "function") await (answer as Answer)(request, response, body);
      else if (answer !== undefined) json(response, 200, answer);
      else problem(response, { status: 404, code: "route.unknown", detail: `There is nothing at ${call}.` });
    });
    await new Promise<void>((resolve) => created.listen(socket, resolve));
    server = created;
  };
  const goAway = async () => {
    const gone = server;
    server = null;
    gone?.closeAllConnections();
    await new Promise<void>((resolve) => (gone === null ? resolve() : gone.close(() => resolve())));
  };
  await listen();
  return {
    home,
    socket,
    calls,
    on: (call, answer) => void answers.set(call, answer),
    goAway,
    comeBack: listen,
    async close() {
      await goAway();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export function problem(
  response: ServerResponse,
  one: Partial<Problem> & { status: number; code: string; detail: string },
): void {
  response.writeHead(one.status, { "content-type": "application/problem+json" }).end(JSON.stringify(one));
}

/** A stream that writes `lines` and, unless `open`, ends. */
export function stream(lines: readonly unknown[], open = false): Answer {
  return (_, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.flushHeaders();
    for (const line of lines) response.write(`${JSON.stringify(line)}\n`);
    if (!open) response.end();
  };
}

const AT = "2026-01-01T00:00:00.000Z";

export function aStatus(over: Partial<Status> = {}): Status {
  return {
    version: "1.0.0",
    pid: 4711,
    startedAt: AT,
    state: "steady",
    release: { version: "1.0.0", path: "/srv/owl" },
    proxy: {
      listen: ["127.0.0.1:8080"],
      processes: [{ id: "proxy-1", pid: 4712, state: "ready" }],
      inFlight: 1,
      requests: 20,
      retries: 2,
      failures: 0,
    },
    services: [
      {
        name: "web",
        replicas: 2,
        ready: 1,
        wanted: "up",
        crashLooping: false,
        instances: [
          {
            id: "web-7",
            pid: 12,
            state: "ready",
            release: "1.0.0",
            startedAt: AT,
            restarts: 0,
            inFlight: 3,
            rssBytes: 5e7,
            cpu: 0.1,
            lastExit: null,
          },
          {
            id: "web-8",
            pid: null,
            state: "backoff",
            release: "1.0.0",
            startedAt: AT,
            restarts: 4,
            inFlight: 0,
            rssBytes: 0,
            cpu: 0,
            lastExit: { known: true, code: null, signal: "SIGKILL", at: AT, outOfMemory: "likely" },
          },
        ],
      },
    ],
    connections: {
      limit: 597,
      maxConnections: 600,
      steady: 358,
      surge: 502,
      open: 41,
      peak: 55,
      verdict: "ok",
      byApplication: { "owl/web-7": 40, psql: 1 },
    },
    workers: [{ id: "worker-2", state: "active", heartbeatAgeMs: 1_200, jobs: { chat: 1 } }],
    rollout: null,
    warnings: ["The disk is nearly full."],
    ...over,
  };
}

export function aRollout(over: Partial<Rollout> = {}): Rollout {
  return {
    id: "r-12",
    kind: "restart",
    state: "running",
    startedAt: AT,
    endedAt: null,
    reason: null,
    steps: [
      { n: 1, service: "web", action: "start", instance: "web-9", state: "running", startedAt: AT, elapsedMs: 5 },
      { n: 2, service: "web", action: "stop", instance: "web-7", state: "waiting", startedAt: null, elapsedMs: 0 },
    ],
    ...over,
  };
}

export function anEvent(
  instance: string,
  event: "starting" | "ready" | "routed" | "draining" | "stopped" | "killed" | "failed",
): RolloutLine {
  return { at: AT, rollout: "r-12", service: "web", instance, event, elapsedMs: 12 };
}

export function theEnd(over: Partial<Rollout> = {}): RolloutLine {
  return { rollout: "r-12", ...aRollout({ state: "succeeded", endedAt: "2026-01-01T00:00:08.000Z", ...over }) };
}
