// English text of the bundled application: the reference catalogue.

import type { With } from "../../config/text.ts";

export const en = {
  "turn.cut": "The server's work was interrupted, so this could not be answered. Please try again in a moment.",
  "turn.unclaimed":
    "The server did not get to this request in time, so it could not be answered. Please try again in a moment.",
  "turn.limit": (v: With<"minutes">) =>
    `The answer took longer than the limit of ${v.minutes} minutes and was ended. Split the question and try again.`,
  "turn.error": "Something went wrong while answering. Please try again.",
  "transcription.lost":
    "The worker was lost several times while transcribing this recording. Check the file, then retry.",
  "playbook.lost":
    "The worker was lost during this run. Finished steps are kept; look at the unknown step before running it again.",
  "schemaAnalysis.lost": "The worker was lost during this analysis. Please analyse again.",
  "job.error": (v: With<"reason">) => `Something went wrong: ${v.reason}`,
  "transcription.noEngine": (v: With<"reason" | "command">) =>
    `No text could be made: ${v.reason} Install a recogniser: ${v.command}`,
  "transcription.noFfmpeg": "This file needs ffmpeg to be read. Install it: sudo apt-get install ffmpeg",
  "transcription.notRecording": "This file is not an audio or video recording.",
  "transcription.silent": "This file holds no sound.",
  "transcription.missing": "The file is no longer there or cannot be read.",
  "transcription.broken": (v: With<"reason">) => `The recording is damaged: ${v.reason}`,
  "transcription.outside": "The file no longer lies inside an archive folder.",
  "transcription.engine": (v: With<"reason">) => `The speech recogniser failed: ${v.reason}`,
  "playbook.cut": (v: With<"step">) =>
    `The run was cut off at step ${v.step}. Finished steps are kept; look at what that step did, then run it again.`,
  "playbook.stepFailed": (v: With<"step" | "reason">) => `Step ${v.step} failed: ${v.reason}`,
  "playbook.unknown": (v: With<"step" | "reason">) =>
    `Step ${v.step} was begun and its outcome is unknown: ${v.reason} Look at what it did before running again.`,
  "schemaAnalysis.failed": (v: With<"reason">) => `The analysis failed: ${v.reason}`,
  "model.instructions": (v: With<"sources">) =>
    `You answer questions about a team's data. Data sources: ${v.sources}. Look at the tables before you write SQL; use the tools rather than guess; show the SQL you used. Answer in the language of the question.`,
  "model.key": (v: With<"status">) =>
    `The model endpoint refused our key (status ${v.status}). An administrator must check model.apiKey.`,
  "model.busy": "The model endpoint is busy (too many requests). Please try again in a moment.",
  "model.away": "The model endpoint could not be reached. Please try again in a moment.",
  "model.status": (v: With<"status">) =>
    `The model endpoint failed (status ${v.status}). Please try again in a moment.`,
  "model.garbage": "The model endpoint's answer broke off or could not be understood. Please try again.",
  "model.silent": "The model endpoint sent nothing for a minute, so the answer was ended. Please try again.",
  "builtIn.name": "**Built-in responder** (no model endpoint is configured)",
  "builtIn.refused": (v: With<"reason">) => `That did not work: ${v.reason}`,
  "builtIn.nothingFound": (v: With<"words">) => `No transcript holds "${v.words}".`,
  "builtIn.rows": (v: With<"rows">) => `Rows: ${v.rows}.`,
  "builtIn.cut": (v: With<"rows">) => `Only the first ${v.rows} rows are shown: the result is longer.`,
  "builtIn.fileBytes": (v: With<"bytes">) => `${v.bytes} bytes`,
  "builtIn.fileTable": (v: With<"rows" | "columns">) => `rows: ${v.rows}, columns: ${v.columns}`,
  "builtIn.fileLines": (v: With<"lines">) => `lines: ${v.lines}`,
  "builtIn.fileFirstRows": (v: With<"rows">) => `Only the first ${v.rows} rows are shown.`,
  "builtIn.fileFirstColumns": (v: With<"columns">) => `Only the first ${v.columns} columns are shown.`,
  "builtIn.fileFirstLines": (v: With<"lines">) => `Only the first ${v.lines} lines are shown.`,
  "builtIn.fileCut": (v: With<"characters" | "all">) =>
    `Only the first ${v.characters} of its ${v.all} characters were read; the figures are those of that part.`,
  "builtIn.fileOnly":
    "This is what can be read off the files by rules. To ask freely about them, an administrator sets `model:` in owl.yaml.",
  "builtIn.help": (v: With<"sources">) =>
    `I answer by rules, with real tools:\n\n- SQL: \`SELECT 6 * 7 AS answer\`\n- tables: \`list the tables\`\n- a table's columns: \`describe orders\`\n- a table's rows: \`count orders\`\n- transcripts: \`search budget\`\n\nData sources: ${v.sources}. For free questions an administrator sets \`model:\` in owl.yaml.`,
  "schemaAnalysis.byRules": (v: With<"tables">) =>
    `The model's answer could not be used for ${v.tables} of the tables; they are described by rules.`,
};
