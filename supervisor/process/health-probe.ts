// One health check of one instance: http over its own socket or port, a command, or connecting.
// Invariant: never rejects, always ends within the timeout, leaves no process and no socket behind.

import { spawn } from "node:child_process";
import { connect } from "node:net";
import type { HealthCheck } from "../../config/config.ts";
import { asError, OwlError } from "../../config/errors.ts";
import { request } from "../../config/http.ts";
import type { Clock } from "../../config/time.ts";
import type { HealthProbe, ProbeResult, ProbeTarget } from "../ports.ts";
import { switchUser } from "./user-switch.ts";

const BODY_CHARS = 500;
/** As much of a refusal's body goes into the sentence about it. */
const SAID_CHARS = 100;
/** What is read of a body at most: 500 characters of up to 4 bytes. */
const BODY_BYTES = BODY_CHARS * 4;

type Outcome = Omit<ProbeResult, "elapsedMs">;
type Address = NonNullable<ProbeTarget["target"]>;

export function createHealthProbe(clock: Clock): HealthProbe {
  return {
    async check(target, check, timeoutMs, signal) {
      const startedMs = clock.monotonicMs();
      const limit = new AbortController();
      const cancelTimeout = clock.after(timeoutMs, () => limit.abort(timedOut(timeoutMs)));
      const stop = AbortSignal.any([signal, limit.signal]);
      try {
        const outcome = await runCheck(target, check, stop);
        return { ...outcome, elapsedMs: clock.monotonicMs() - startedMs };
      } catch (error) {
        const reason = stop.aborted ? stop.reason : error;
        return { ...failure(describe(reason)), elapsedMs: clock.monotonicMs() - startedMs };
      } finally {
        cancelTimeout();
      }
    },
  };
}

async function runCheck(target: ProbeTarget, check: HealthCheck, signal: AbortSignal): Promise<Outcome> {
  signal.throwIfAborted();
  switch (check.kind) {
    case "http":
      return target.target === null ? failure("it listens nowhere") : checkHttp(target.target, check.path, signal);
    case "connect":
      return target.target === null ? failure("it listens nowhere") : checkConnect(target.target, signal);
    case "command":
      return checkCommand(target, check.command, signal);
    case "uptime":
      return failure("uptime is measured, not asked");
  }
}

function timedOut(timeoutMs: number): OwlError {
  return new OwlError("probe.timeout", `no answer within ${timeoutMs} ms`);
}

function failure(error: string): Outcome {
  return { ok: false, status: null, body: "", error };
}

function describe(reason: unknown): string {
  const error = asError(reason) as NodeJS.ErrnoException;
  if (error.code === "ECONNREFUSED") return "connection refused";
  if (error.code === "ENOENT") return "its socket does not exist yet";
  return error.message;
}

function checkHttp(target: Address, path: string, signal: AbortSignal): Promise<Outcome> {
  const where = "socket" in target ? { socketPath: target.socket } : { host: target.host, port: target.port };
  return new Promise((resolve, reject) => {
    const asked = request({
      ...where,
      path,
      // No kept connection: a check must not hold a socket that a draining instance then waits for.
      agent: false,
      headers: { host: "localhost", "user-agent": "owld", connection: "close" },
      signal,
    });
    let finishEarly: (() => void) | null = null;
    // Cut by the timeout in the middle of its body: the status had come in time.
    asked.on("error", (error) => (finishEarly === null ? reject(error) : finishEarly()));
    asked.on("response", (response) => {
      finishEarly = finish;
      const head = collectHead();
      response.on("data", (chunk: Buffer) => {
        // A 2xx says all by its status: an endless body must not make it wait.
        if (head.add(chunk)) finish();
      });
      response.on("error", finish);
      response.on("end", finish);
      function finish(): void {
        const status = response.statusCode ?? 0;
        const ok = status >= 200 && status < 300;
        resolve({ ok, status, body: head.text(), error: ok ? null : refusal(path, status, head.text()) });
        asked.destroy();
      }
    });
    asked.end();
  });
}

/** What was asked and what came, for whoever has to find out why. */
function refusal(path: string, status: number, body: string): string {
  const said = body.replace(/\s+/g, " ").trim().slice(0, SAID_CHARS);
  return `GET ${path}: HTTP ${status}${said === "" ? "" : ` ${JSON.stringify(said)}`}`;
}

function checkConnect(target: Address, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const socket = connect("socket" in target ? { path: target.socket } : { host: target.host, port: target.port });
    const abort = (): void => {
      socket.destroy();
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    socket.on("error", (error) => {
      signal.removeEventListener("abort", abort);
      reject(error);
    });
    socket.on("connect", () => {
      signal.removeEventListener("abort", abort);
      socket.destroy();
      resolve({ ok: true, status: null, body: "", error: null });
    });
  });
}

async function checkCommand(target: ProbeTarget, command: readonly string[], signal: AbortSignal): Promise<Outcome> {
  const [file, ...rest] = command;
  if (file === undefined) return failure("the command is empty");
  const to = await switchUser([file, ...rest], target.user ?? null);
  const [program, ...args] = to.argv;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    // A group of its own: at the timeout its grandchildren go with it.
    const child = spawn(program, args, {
      uid: to.uid,
      gid: to.gid,
      cwd: target.cwd,
      env: { ...target.env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const head = collectHead();
    const take = (chunk: Buffer): void => void head.add(chunk);
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    const killGroup = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // Gone already.
      }
    };
    const abort = (): void => {
      killGroup();
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    const settle = (run: () => void): void => {
      signal.removeEventListener("abort", abort);
      // `exit`, not `close`: a grandchild may hold the pipes open for ever. What is written by now is enough.
      setImmediate(() => {
        run();
        child.stdout.destroy();
        child.stderr.destroy();
      });
    };
    child.on("error", (error) => settle(() => reject(error)));
    child.on("exit", (code, killed) => {
      const error = code === 0 ? null : code === null ? `ended by ${killed}` : `exit code ${code}`;
      settle(() => resolve({ ok: code === 0, status: code, body: head.text(), error }));
    });
  });
}

/** Keeps the first bytes; `add` answers true once it is full. */
function collectHead(): { add(chunk: Buffer): boolean; text(): string } {
  let head = Buffer.alloc(0);
  return {
    add(chunk) {
      if (head.length < BODY_BYTES) head = Buffer.concat([head, chunk.subarray(0, BODY_BYTES - head.length)]);
      return head.length >= BODY_BYTES;
    },
    text: () => head.toString("utf8").slice(0, BODY_CHARS),
  };
}
