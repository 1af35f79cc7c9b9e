// The commands of `before`: run in a new release, one after another, before anything of it starts.
// Invariant: each has its time, all it says is in the log `owl.before-N` and told as it comes; one that fails ends all.

import { createWriteStream } from "node:fs";
import { join } from "node:path";
import type { ServiceConfig } from "../../../config/config.ts";
import { asError, OwlError } from "../../../config/errors.ts";
import type { HomePaths } from "../../../config/home.ts";
import type { Clock } from "../../../config/time.ts";
import type { Text } from "../../core/text/text.ts";
import { instanceEnv } from "../../instances/launch.ts";
import type { OneOff } from "../../ports.ts";
import { isStranger, lend, takeBack } from "./lending.ts";

/** Processes of this name are `before`'s: no service can be called so. */
export const BEFORE = "owl.before";

interface BeforeParts {
  readonly oneOff: OneOff;
  readonly clock: Clock;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly paths: HomePaths;
  readonly mark: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

interface NewRelease {
  readonly id: string;
  readonly code: string;
  readonly limitMs: number;
  readonly sizeBytes: number;
}

/** Watchers are told so often, of so many lines. */
const TELL_MS = 500;
const LINES = 20;
const LINE_CHARACTERS = 500;

export async function runBefore(
  parts: BeforeParts,
  release: NewRelease,
  services: readonly ServiceConfig[],
  say: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const words = parts.record.recorded.deploy;
  const seen = new Set<string>();
  const log = createWriteStream(join(parts.paths.logs, `${BEFORE}-${release.id}.log`), { flags: "a", mode: 0o640 });
  // A disk that is full loses lines of a log, no more.
  log.on("error", () => undefined);
  try {
    for (const service of services) {
      const commands = (service.code?.before ?? []).filter((argv) => {
        const key = JSON.stringify([argv, service.user, service.code?.within]);
        return !seen.has(key) && seen.add(key);
      });
      if (commands.length === 0) continue;
      const stranger = await isStranger(service.user);
      if (stranger && service.user !== null) await lend(release.code, service.user);
      for (const argv of commands) {
        const line = argv.join(" ");
        log.write(`$ ${line}\n`);
        say(`$ ${line}`);
        const startedMs = parts.clock.monotonicMs();
        await runOne(parts, release, service, argv, stranger, { say, log: (text) => log.write(text) }, signal);
        say(words.ran(line, Math.round((parts.clock.monotonicMs() - startedMs) / 100) / 10));
      }
      if (stranger) await takeBack(release.code, release.sizeBytes, signal);
    }
  } finally {
    log.end();
  }
}

async function runOne(
  parts: BeforeParts,
  { id, code, limitMs }: NewRelease,
  service: ServiceConfig,
  argv: readonly string[],
  stranger: boolean,
  out: { readonly say: (message: string) => void; readonly log: (text: string) => void },
  signal: AbortSignal,
): Promise<void> {
  const words = parts.record.recorded.deploy;
  const { paths, mark, environment } = parts;
  const line = argv.join(" ");
  const telling = createTelling(parts.clock, out.say);
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const [program = "", ...rest] = argv;
  const inGroup = stranger && process.geteuid?.() !== 0;
  const request = {
    argv: inGroup ? (["sh", "-c", 'umask 007; exec "$@"', "sh", ...argv] as const) : ([program, ...rest] as const),
    cwd: join(code, service.code?.within ?? ""),
    env: instanceEnv({
      service,
      id: `${BEFORE}-${id}`,
      target: null,
      paths,
      mark,
      release: id,
      app: null,
      environment,
    }),
    user: service.user,
    limitMs,
    said(stream: "stdout" | "stderr", chunk: Uint8Array): undefined {
      const text = decoders[stream].decode(chunk, { stream: true });
      out.log(text);
      telling.add(text);
    },
  };
  const ended = await parts.oneOff(request, signal).catch((caught: unknown) => {
    signal.throwIfAborted();
    throw new OwlError("deploy.before", words.notStarted(line, asError(caught).message));
  });
  telling.end();
  signal.throwIfAborted();
  const { exitCode } = parts.record.recorded.rollout;
  if (ended.cause === "late") throw failed(words.beforeLate(line, limitMs / 1_000));
  if (ended.code !== 0) throw failed(words.beforeFailed(line, ended.signal ?? exitCode(ended.code)));

  function failed(sentence: string): OwlError {
    const last = telling.last();
    return new OwlError("deploy.before", last.length === 0 ? sentence : [sentence, ...last].join("\n"));
  }
}

/** Passes on what a command says, some lines at a time; keeps the last ones. */
function createTelling(clock: Clock, say: (message: string) => void) {
  let open = "";
  let untold = 0;
  let last: readonly string[] = [];
  let cancel: (() => void) | null = null;

  function flush(): void {
    cancel = null;
    if (untold === 0) return;
    const skipped = untold > LINES ? [`… +${untold - LINES}`] : [];
    say([...skipped, ...last.slice(-untold)].join("\n"));
    untold = 0;
  }

  function take(lines: readonly string[]): void {
    const cut = lines.map((line) => line.replace(/\r/g, "").slice(0, LINE_CHARACTERS)).filter((line) => line !== "");
    untold += cut.length;
    last = [...last, ...cut].slice(-LINES);
    if (untold > 0) cancel ??= clock.after(TELL_MS, flush);
  }

  return {
    add(text: string): void {
      const parts = (open + text).split("\n");
      // One that never ends its line is cut into some.
      open = (parts.pop() ?? "").slice(-LINE_CHARACTERS);
      take(parts);
    },
    end(): void {
      take([open]);
      open = "";
      cancel?.();
      flush();
    },
    last: (): readonly string[] => last,
  };
}
