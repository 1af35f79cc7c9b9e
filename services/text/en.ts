// English text of the bundled application: the reference catalogue, whose keys every other one must have.

export const en = {
  "turn.cut": "The server's work was interrupted, so this could not be answered. Please try again in a moment.",
  "turn.unclaimed":
    "The server did not get to this request in time, so it could not be answered. Please try again in a moment.",
  "turn.limit":
    "The answer took longer than the limit of {minutes} minutes and was ended. Split the question and try again.",
  "turn.error": "Something went wrong while answering. Please try again.",
  "transcription.lost":
    "The worker was lost several times while transcribing this recording. Check the file, then retry.",
  "playbook.lost":
    "The worker was lost during this run. Finished steps are kept; look at the unknown step before running it again.",
  "schemaAnalysis.lost": "The worker was lost during this analysis. Please analyse again.",
  "job.error": "Something went wrong: {reason}",
  "transcription.noEngine": "No text could be made: {reason} Install a recogniser: {command}",
  "transcription.noFfmpeg": "This file needs ffmpeg to be read. Install it: sudo apt-get install ffmpeg",
  "transcription.notRecording": "This file is not an audio or video recording.",
  "transcription.silent": "This file holds no sound.",
  "transcription.missing": "The file is no longer there or cannot be read.",
  "transcription.broken": "The recording is damaged: {reason}",
  "transcription.outside": "The file no longer lies inside an archive folder.",
  "transcription.engine": "The speech recogniser failed: {reason}",
  "playbook.cut":
    "The run was cut off at step {step}. Finished steps are kept; look at what that step did, then run it again.",
  "playbook.stepFailed": "Step {step} failed: {reason}",
  "playbook.unknown":
    "Step {step} was begun and its outcome is unknown: {reason} Look at what it did before running again.",
  "schemaAnalysis.failed": "The analysis failed: {reason}",
  "model.instructions":
    "You answer questions about a team's data. Data sources: {sources}. Look at the tables before you write SQL; use the tools rather than guess; show the SQL you used. Answer in the language of the question.",
  "model.key": "The model endpoint refused our key (status {status}). An administrator must check model.apiKey.",
  "model.busy": "The model endpoint is busy (too many requests). Please try again in a moment.",
  "model.away": "The model endpoint could not be reached. Please try again in a moment.",
  "model.status": "The model endpoint failed (status {status}). Please try again in a moment.",
  "model.garbage": "The model endpoint's answer broke off or could not be understood. Please try again.",
  "model.silent": "The model endpoint sent nothing for a minute, so the answer was ended. Please try again.",
  "builtIn.name": "**Built-in responder** (no model endpoint is configured)",
  "builtIn.refused": "That did not work: {reason}",
  "builtIn.nothingFound": 'No transcript holds "{words}".',
  "builtIn.rows": "Rows: {rows}.",
  "builtIn.cut": "Only the first {rows} rows are shown: the result is longer.",
  "builtIn.fileBytes": "{bytes} bytes",
  "builtIn.fileTable": "rows: {rows}, columns: {columns}",
  "builtIn.fileLines": "lines: {lines}",
  "builtIn.fileFirstRows": "Only the first {rows} rows are shown.",
  "builtIn.fileFirstColumns": "Only the first {columns} columns are shown.",
  "builtIn.fileFirstLines": "Only the first {lines} lines are shown.",
  "builtIn.fileCut":
    "Only the first {characters} of its {all} characters were read; the figures are those of that part.",
  "builtIn.fileOnly":
    "This is what can be read off the files by rules. To ask freely about them, an administrator sets `model:` in owl.yaml.",
  "builtIn.help":
    "I answer by rules, with real tools:\n\n- SQL: `SELECT 6 * 7 AS answer`\n- tables: `list the tables`\n- a table's columns: `describe orders`\n- a table's rows: `count orders`\n- transcripts: `search budget`\n\nData sources: {sources}. For free questions an administrator sets `model:` in owl.yaml.",
  "schemaAnalysis.byRules":
    "The model's answer could not be used for {tables} of the tables; they are described by rules.",
} as const;
