// Which recogniser writes the text of a segment: an OpenAI-compatible endpoint, or an installed command.

import type { AppConfig } from "../../../config/config.ts";
import type { Clock } from "../../../config/time.ts";
import { cleanText } from "../../core/transcript.ts";
import { failure } from "../../core/wire/errors.ts";
import { findProgram, runProgram } from "../../media/program.ts";
import { createEndpointEngine } from "./endpoint-engine.ts";
import type { Engine } from "./recogniser.ts";

/** Recognisers found by `auto`, best first: name, arguments, and how their output becomes text. */
const KNOWN: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly read: (out: string) => string;
}[] = [
  { name: "vosk-transcriber", args: ["-i", "{file}"], read: cleanText },
  { name: "pocketsphinx_continuous", args: ["-infile", "{file}", "-logfn", "/dev/null"], read: cleanText },
  { name: "pocketsphinx", args: ["-loglevel", "FATAL", "single", "{file}"], read: readPocketsphinx },
];

const INSTALL_RECOGNISER = "sudo apt-get install pocketsphinx pocketsphinx-en-us";

/** The engine of this configuration; throws `engine.missing` when there is none. `path` stands for PATH in tests. */
export function chooseEngine(config: AppConfig["transcription"], clock: Clock, path?: string): Engine {
  if (config.engine === "command" && config.command !== null) {
    const [name, ...args] = config.command;
    return commandEngine(name ?? "", args, cleanText, clock, path);
  }
  if (config.engine === "auto") {
    for (const known of KNOWN) {
      if (findProgram(known.name, path) !== null) return commandEngine(known.name, known.args, known.read, clock, path);
    }
  }
  if (config.baseUrl !== null) return createEndpointEngine({ ...config, baseUrl: config.baseUrl }, clock);
  throw failure("engine.missing", {}, { next: INSTALL_RECOGNISER });
}

function commandEngine(
  name: string,
  args: readonly string[],
  read: (out: string) => string,
  clock: Clock,
  path?: string,
): Engine {
  return {
    name,
    async transcribe({ file, language, durationMs, signal }) {
      const program = findProgram(name, path);
      if (program === null) {
        throw failure("engine.missing#named", { name }, { next: INSTALL_RECOGNISER });
      }
      const filled = args.map((arg) => arg.replaceAll("{file}", file).replaceAll("{language}", language ?? "auto"));
      const argv = [program, ...filled] as const;
      // A recogniser slower than twenty times real time is one that hangs.
      const done = await runProgram({ argv, signal, clock, timeoutMs: 600_000 + 20 * durationMs });
      if (done.code === 0) return read(done.stdout);
      const said = done.stderr.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
      throw failure("engine.failed#program", { name, why: `${done.code ?? "a signal"}${said ? `: ${said}` : ""}` });
    },
  };
}

/** pocketsphinx 5 prints one JSON object a line: `t` is the text. */
function readPocketsphinx(out: string): string {
  const texts = out.split("\n").flatMap((line) => {
    try {
      const { t } = JSON.parse(line) as { t?: unknown };
      return typeof t === "string" ? [t] : [];
    } catch {
      return [];
    }
  });
  return cleanText(texts.join(" "));
}
