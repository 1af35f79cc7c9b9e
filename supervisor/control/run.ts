// One-off programs in a service's environment, for whoever asks and as long as they listen: `run` beside the instances,
// `exec` as in one of them. Invariant: each is an event when it begins and when it ends, and ends with its asker.

import type { ServiceConfig } from "../../config/config.ts";
import type { RunLine, RunRequest } from "../../config/deploy-api.ts";
import { asError, OwlError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import { INSTANCE_ENV } from "../../config/instance-env.ts";
import { type Instance, isServing } from "../core/instance.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { InstanceBook } from "../instances/book.ts";
import { instanceEnv } from "../instances/launch.ts";
import type { TimedRuns } from "../instances/schedules/timed-runs.ts";
import type { InstanceLogs, OneOff, OneOffEnd } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { Definitions } from "../state/definitions.ts";
import type { Store } from "../state/store.ts";
import type { Control } from "./control.ts";
import type { Gate } from "./gate.ts";

/** Processes of this name are one-offs: no service can be called so. */
export const ONE_OFF = "owl.run";
const MOST_AT_ONCE = 8;
const LIMIT_MS = 3_600_000;
/** Pieces of output that may wait for a slow reader. */
const MOST_WAITING = 64;

interface RunParts {
  readonly gate: Gate;
  readonly book: Pick<InstanceBook, "services" | "get">;
  readonly definitions: Pick<Definitions, "envOf" | "serviceOf">;
  readonly journal: Pick<Journal, "write">;
  readonly store: Pick<Store, "next">;
  readonly oneOff: OneOff;
  readonly timed: Pick<TimedRuns, "runNow">;
  readonly logs: Pick<InstanceLogs, "read">;
  readonly paths: HomePaths;
  readonly mark: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly release: () => string;
}

export function createRunControl(parts: RunParts): Pick<Control, "run"> {
  const words = parts.record.recorded.run;
  let running = 0;

  /** What it runs by: the service as a new instance would have it, or one that serves. */
  function place({ target, inInstance = false }: RunRequest): {
    readonly service: ServiceConfig;
    readonly instance: Instance | null;
  } {
    const named = parts.book.get(target);
    if (!inInstance || named === null) {
      const service = parts.gate.serviceNamed(target);
      if (!inInstance) return { service, instance: null };
      const found = parts.book.services().find((one) => one.service === target && isServing(one));
      if (found === undefined) throw new Refusal("run.noneReady", ({ refused }) => refused.run.noneReady(target));
      return { service: parts.definitions.serviceOf(found) ?? service, instance: found };
    }
    return { service: parts.definitions.serviceOf(named) ?? parts.gate.serviceNamed(named.service), instance: named };
  }

  function envOf(id: string, service: ServiceConfig, instance: Instance | null): Record<string, string> {
    const { paths, mark, environment } = parts;
    const release = service.code?.release ?? parts.release();
    const env = instance === null ? null : parts.definitions.envOf(instance);
    const own = env ?? instanceEnv({ service, id, target: null, paths, mark, release, app: null, environment });
    return { ...own, [INSTANCE_ENV.instance]: id };
  }

  return {
    async run(request, signal) {
      const { service, instance } = place(request);
      if (request.command.length === 0) return runNow(service, parts, signal);
      if (service.bundled) throw new Refusal("run.bundled", ({ refused }) => refused.run.bundled(service.name));
      if (running >= MOST_AT_ONCE) throw new Refusal("run.busy", ({ refused }) => refused.run.tooMany(MOST_AT_ONCE));
      const id = `${ONE_OFF}-${parts.store.next("run")}`;
      const [program = "", ...rest] = request.command;
      const line = request.command.join(" ");
      const about = { service: service.name, instance: instance?.id ?? null };
      const { user, cwd } = service;
      const env = envOf(id, service, instance);
      return stream((said, ends) => {
        running++;
        parts.journal.write({ type: "run.started", ...about, message: words.started(id, service.name, line) });
        return parts
          .oneOff(
            { argv: [program, ...rest], cwd, env, user, limitMs: LIMIT_MS, said },
            AbortSignal.any([signal, ends]),
          )
          .then(
            (end) => {
              parts.journal.write({ type: "run.ended", ...about, message: words.ended(id, how(end)) });
              return end;
            },
            (error: unknown) => {
              parts.journal.write({ type: "run.failed", ...about, message: words.ended(id, asError(error).message) });
              throw error;
            },
          )
          .finally(() => {
            running--;
          });
      });
    },
  };

  function how({ code, signal, cause }: OneOffEnd): string {
    if (cause !== null) return words.cause[cause];
    return signal ?? parts.record.recorded.rollout.exitCode(code);
  }
}

/** Its run begins; what that writes is passed on until it has ended, and it goes on when nobody listens any more. */
function runNow(
  service: ServiceConfig,
  { gate, timed, logs }: Pick<RunParts, "gate" | "timed" | "logs">,
  signal: AbortSignal,
): AsyncGenerator<RunLine> {
  if (service.schedule === undefined)
    throw new Refusal("request.invalid", ({ refused }) => refused.run.noCommand(service.name));
  gate.refuseWithoutDisk();
  const { id, ended } = timed.runNow(service);
  const over = new AbortController();
  void ended.then(() => over.abort());
  const query = { instances: [id], lines: null, sinceMs: null, mark: false };
  const said = ({ line }: { readonly line: string }): RunLine => ({ stream: "stdout", text: `${line}\n` });
  return (async function* () {
    let told = 0;
    for await (const line of logs.read({ ...query, follow: true }, AbortSignal.any([signal, over.signal]))) {
      told++;
      yield said(line);
    }
    // What it wrote last, after the last look.
    for await (const line of logs.read({ ...query, follow: false }, signal)) if (told-- <= 0) yield said(line);
    if (signal.aborted) return;
    const { code, signal: name } = await ended;
    yield { exit: { code, signal: name, cause: null } };
  })();
}

type Said = Parameters<OneOff>[0]["said"];

/** What it says as lines, then how it ended; whoever stops reading ends it. */
async function* stream(start: (said: Said, ends: AbortSignal) => Promise<OneOffEnd>): AsyncGenerator<RunLine> {
  const waiting: RunLine[] = [];
  const ends = new AbortController();
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  let came = Promise.withResolvers<void>();
  let read = Promise.withResolvers<void>();
  const end = start((name, chunk) => {
    waiting.push({ stream: name, text: decoders[name].decode(chunk, { stream: true }) });
    came.resolve();
    if (waiting.length < MOST_WAITING) return undefined;
    read = Promise.withResolvers();
    return read.promise;
  }, ends.signal);
  const over = end.then(
    () => true,
    () => true,
  );
  try {
    for (;;) {
      const line = waiting.shift();
      if (line !== undefined) {
        yield line;
        continue;
      }
      read.resolve();
      came = Promise.withResolvers();
      const isOver = await Promise.race([over, came.promise.then(() => false)]);
      if (isOver && waiting.length === 0) break;
    }
    const { code, signal, cause } = await end;
    yield { exit: { code, signal, cause } };
  } finally {
    ends.abort(new OwlError("run.left", "whoever asked for it has left"));
    read.resolve();
    await over;
  }
}
