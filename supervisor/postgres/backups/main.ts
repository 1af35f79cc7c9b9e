// The backup program: `serve` beside owld; `ask` for owlctl, which sends one JSON line on standard input and reads JSON
// lines: steps, then the result or the problem. Exit codes: 0 done; 1 it failed, as the last line says.

import { text as readAll } from "node:stream/consumers";
import { asError, OwlError } from "../../../config/errors.ts";
import { systemClock } from "../../../config/system-time.ts";
import { wordsOf } from "../../core/text/refusal.ts";
import { textOf } from "../../core/text/text.ts";
import { answer, type Question } from "./answer.ts";
import { BACKUP_ENV, type BackupTask } from "./report.ts";
import { serve } from "./serve.ts";

const write = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

async function ask(): Promise<number> {
  const question = JSON.parse(await readAll(process.stdin)) as Question;
  const ended = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const)
    process.on(name, () => ended.abort(new OwlError("backup.interrupted", "It was interrupted.")));
  try {
    write({ result: await answer(question, { say: (step) => write({ step }), signal: ended.signal }) });
    return 0;
  } catch (caught) {
    const error = asError(caught);
    const { sentence, next } = wordsOf(error, textOf(question.language));
    write({
      problem: { code: error instanceof OwlError ? error.code : "backup.failed", sentence, next: next ?? null },
    });
    if (!(error instanceof OwlError)) process.stderr.write(`${error.stack ?? error.message}\n`);
    return 1;
  }
}

if (process.argv[2] === "serve") {
  const task = JSON.parse(process.env[BACKUP_ENV] ?? "null") as BackupTask;
  delete process.env[BACKUP_ENV];
  await serve({ task, clock: systemClock, report: write });
  process.exit(0);
}
process.exit(await ask());
