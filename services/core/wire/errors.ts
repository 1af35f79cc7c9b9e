// THE list of the services' errors: code, status, sentence, next step. Pure.
// Invariants: a code is stable and has one status; a `#word` after it tells apart several sentences of one code and never
// leaves this process. `{name}` in a sentence is filled in by who fails.

import { OwlError, type OwlErrorOptions } from "../../../config/errors.ts";

interface ErrorRow {
  readonly status: number;
  readonly sentence: string;
  readonly next?: string;
}

const row = (status: number, sentence: string, next?: string): ErrorRow => ({
  status,
  sentence,
  ...(next === undefined ? {} : { next }),
});

const ERRORS = {
  "request.invalid": row(400, "{field} is not valid: {why}."),
  "request.invalid#json": row(400, "The body is not valid JSON."),
  "request.invalid#deep": row(400, "The body is nested too deeply."),
  "request.invalid#text": row(400, "{field} holds a character that cannot be stored (NUL, or half of one)."),
  "request.invalid#broken": row(400, "The file broke off on its way."),
  "request.invalid#other": row(400, "{why}"),
  "request.type": row(415, "The body's content type is not understood here.", "Send application/json."),
  "request.tooLarge": row(413, "The request's body is larger than allowed."),
  "request.origin": row(403, "This request came from another site and was refused."),
  "request.role": row(403, "Only administrators may do this."),
  "request.left": row(499, "The client left."),
  "request.internal": row(404, "There is nothing at {route}."),
  "route.notFound": row(404, "There is nothing at {route}."),
  "page.invalid": row(400, "The page mark `next` is not one of ours."),
  "idempotency.invalid": row(400, "Idempotency-Key must be 1 to 255 visible ASCII characters."),
  "idempotency.otherBody": row(
    422,
    "This Idempotency-Key was used for a different request.",
    "Use a new key for a new request.",
  ),
  "database.away": row(
    503,
    "The database does not answer at the moment; nothing was changed.",
    "Try again in a moment.",
  ),
  "database.slow": row(
    503,
    "The database took too long and gave up; nothing was changed.",
    "Try it with less at once.",
  ),
  internal: row(500, "Something went wrong on our side.", "Tell an administrator the reference {reference}."),

  "session.missing": row(401, "Please sign in.", "POST /api/session with name and password."),
  "session.wrong": row(401, "Name or password is wrong."),
  "session.wrong#present": row(401, "The present password is wrong."),
  "session.code": row(401, "This account asks for a code as well.", "Send it as `code`."),
  "session.code#wrong": row(401, "The code is wrong, or was taken already.", "Wait for the next one."),
  "session.tooMany": row(429, "Too many failed tries.", "Wait a quarter of an hour, then try again."),
  "session.busy": row(503, "Too many passwords are being checked at the moment.", "Try again in a moment."),
  "session.local": row(
    403,
    "Passwords are the administrators' way in alone here.",
    "Sign in through the identity provider.",
  ),
  "session.stale": row(
    403,
    "Your account has no password here, so this is open for a quarter of an hour after signing in.",
    "Sign out, sign in again and come back.",
  ),
  "provider.token": row(400, "This is no logout token of the identity provider for this installation."),
  "provider.away": row(503, "The identity provider does not answer.", "Try again in a moment."),
  "password.initial": row(
    403,
    "The first password must be changed before anything else.",
    "PUT /api/session/password with password and newPassword.",
  ),
  "password.weak#same": row(400, "The new password is the present one.", "Choose another one."),
  "password.weak": row(400, "A password has 10 to 1,000 characters."),
  "factor.conflict": row(409, "The second factor is on already, or was not begun.", "Look at your account."),
  "factor.wrong": row(400, "The code does not fit the secret.", "Is the clock of your device right?"),
  "token.wrong": row(
    401,
    "This API token is not known, has expired or was revoked.",
    "Make another one: Your account.",
  ),
  "token.scope": row(403, "This API token does not have the scope {scope}.", "Make one with it: Your account."),
  "token.scope#closed": row(403, "API tokens are not taken for this.", "Sign in."),
  "token.notFound": row(404, "There is no such API token."),
  "limit.tokens": row(429, "You have {limit} API tokens already.", "Revoke one of them."),
  "account.notFound": row(404, "There is no account {name}.", "See owlctl user list."),
  "account.notFound#administrator": row(404, "There is no administrator."),
  "account.conflict": row(409, "The account {name} is there already."),
  "account.conflict#last": row(
    409,
    "The last administrator cannot be disabled or deleted.",
    "Add another administrator first.",
  ),

  "limit.turns": row(
    429,
    "You have {limit} questions waiting or running already.",
    "Wait for an answer, or stop one of them.",
  ),
  "limit.runs": row(429, "You have {limit} playbook runs and analyses in line already.", "Wait, or stop some of them."),
  "limit.recordings": row(429, "You would have more than {limit} recordings in line.", "Wait, or cancel some of them."),
  "limit.conversations": row(429, "You have {limit} conversations already.", "Delete some of them."),
  "limit.playbooks": row(429, "You have {limit} playbooks already.", "Delete some of them."),
  "limit.uploads": row(429, "You have {limit} uploads that are not complete.", "Complete or delete one of them."),
  "limit.uploadBytes": row(
    413,
    "Your uploads that are not complete would have more than {limit} bytes.",
    "Complete or delete one of them.",
  ),
  "limit.attachments": row(
    429,
    "You have {limit} attached files that were not sent.",
    "Send or remove one of them; after a day they are deleted.",
  ),
  "limit.eventStreams": row(429, "You have {limit} event streams open already.", "Close a window."),
  "limit.storedBytes": row(
    413,
    "Your recordings and files would have more than {limit} bytes.",
    "Delete recordings or conversations that are no longer needed.",
  ),
  "limit.budget": row(
    429,
    "Your chats have used this month's budget of {limit}.",
    "Wait for the next month, or ask an administrator for more.",
  ),
  "model.unknown": row(422, "There is no such model here.", "Choose one of the session's models."),
  "export.running": row(429, "Your data is being exported already.", "Wait until that download has ended."),
  "limit.schedules": row(429, "You have {limit} schedules already.", "Delete one of them."),
  "limit.requests": row(429, "Too many of your requests wait already.", "Wait until some are answered."),
  "limit.searches": row(429, "{limit} of your searches are under way.", "Wait until one has ended."),

  "conversation.notFound": row(404, "There is no such conversation."),
  "turn.notFound": row(404, "There is no such turn."),
  "step.answered": row(409, "This step was answered already.", "Look at the turn or run again."),
  "step.notWaiting": row(409, "Nothing is asked about this very call.", "Look at the turn or run again."),
  "step.notApprover": row(403, "An administrator decides about this call.", "Ask one; you may stop the work."),
  "assistant.notFound": row(404, "There is no such assistant."),
  "assistant.full": row(429, "You have {limit} assistants already.", "Delete some of them."),
  "prompt.notFound": row(404, "There is no such prompt."),
  "prompt.full": row(429, "You have {limit} prompts already.", "Delete some of them."),
  "share.notFound": row(404, "This link has ended, or never was."),
  "share.refused": row(
    403,
    "This installation does not allow such links.",
    "An administrator may: `chat.links` of owl.yaml.",
  ),
  "share.full": row(429, "You have {limit} links already.", "End some of them."),
  "turn.running": row(409, "A turn of this conversation is still running.", "Wait for its end, or stop it."),
  "turn.versions": row(409, "This question has {limit} versions already.", "Ask it as a new question."),
  "attachment.notFound": row(404, "There is no such attachment."),
  "attachment.tooLarge": row(
    413,
    "An attached file may have at most {limit} bytes.",
    "Attach a part of it, or ask for it as a data source.",
  ),
  "attachment.empty": row(422, "The file is empty.", "Attach a file with some text in it."),
  "attachment.type": row(
    415,
    "Only text, documents and images can be attached to a question; this file is none of them.",
    "Attach text, CSV, JSON, logs, source code, PDF, Word, Excel or PowerPoint files, or PNG, JPEG, GIF or WebP images. Recordings belong on the Recordings page.",
  ),
  "attachment.document": row(422, "This document could not be read: {why}", "Attach its text instead."),
  "attachment.document#empty": row(
    422,
    "This document holds no text (a scan, or pictures alone).",
    "Attach one with text in it.",
  ),
  "attachment.pixels": row(422, "This image has more than {limit} million pixels.", "Attach a smaller one."),
  "attachment.unseen": row(422, "{model} does not look at images.", "Choose a model that does: {models}."),
  "attachment.unseen#none": row(
    422,
    "No model of this installation looks at images.",
    "An administrator says which does: `vision: true` of a model in owl.yaml.",
  ),
  "attachment.encoding": row(422, "This file is not written in {encoding}.", "Name another encoding."),
  "attachment.unusable": row(422, "An attached file is no longer there, or is not yours.", "Attach it again."),
  "attachment.conflict": row(409, "A question has this file.", "It is deleted with its conversation."),

  "upload.notFound": row(404, "There is no such upload."),
  "upload.notFound#oneOf": row(404, "One of these uploads is not there, not complete or not yours."),
  "upload.invalid": row(400, "Expected {name, bytes}: the file's name and its length in bytes."),
  "upload.invalid#form": row(400, "The form holds no file."),
  "upload.invalid#empty": row(400, "The request holds no file."),
  "upload.invalid#offset": row(400, "Upload-Offset must be a whole number."),
  "upload.tooLarge": row(413, "An upload may have at most {limit} bytes."),
  "upload.type": row(
    415,
    "This file is not an audio or video recording.",
    "Upload a recording such as WAV, MP3, M4A, OGG, FLAC, MP4 or WebM.",
  ),
  "upload.conflict": row(
    409,
    "The upload is at another offset, or another request is writing it.",
    "Ask for the offset (HEAD) and go on from there.",
  ),
  "upload.conflict#offset": row(409, "The upload is at offset {offset}.", "Go on from there."),
  "upload.conflict#open": row(409, "The upload is not complete."),
  "upload.conflict#inUse": row(409, "A transcription still needs this file."),

  "path.outside": row(
    403,
    "{path} is not inside an archive folder.",
    "Name a folder listed under archive.roots in owl.yaml.",
  ),
  "path.notFound": row(404, "{path} is not there or cannot be read."),
  "media.notFound": row(404, "The recording is no longer there."),
  "transcription.notFound": row(404, "There is no such transcription."),
  "transcription.invalid": row(400, "Name either uploadId or path."),
  "transcription.invalid#type": row(400, "This is not an audio or video file."),
  "transcription.conflict": row(409, "Only a failed or cancelled transcription can be tried again."),
  "transcription.conflict#open": row(409, "This recording is still being worked on.", "Stop it first."),
  "transcription.conflict#inBatch": row(
    409,
    "This recording belongs to a batch.",
    "Delete the batch when it has ended.",
  ),
  "batch.notFound": row(404, "There is no such batch."),
  "batch.notFound#operator": row(404, "There is no such batch.", "List them: owlctl batch list"),
  "batch.invalid": row(400, "Name exactly one of path, paths and uploadIds."),
  "batch.invalid#empty": row(
    400,
    "There is no recording to transcribe there.",
    "Look at the plan: it says why each file is skipped.",
  ),
  "batch.tooLarge": row(413, "There are more than {limit} files there.", "Name fewer folders."),
  "batch.conflict#open": row(409, "This batch has not ended.", "Cancel it first."),
  "batch.conflict": row(409, "A batch that is {state} cannot {act}."),

  "playbook.notFound": row(404, "There is no such playbook."),
  "playbook.invalid": row(400, "{why}."),
  "run.notFound": row(404, "There is no such run."),
  "run.conflict": row(409, "This run has not ended.", "Stop it first."),
  "schedule.notFound": row(404, "There is no such schedule."),
  "schedule.invalid": row(
    400,
    "The cron line is not understood: {why}.",
    "Five fields: minute, hour, day of month, month, day of week; `0 9 * * 1-5` is nine o'clock on weekdays.",
  ),
  "schedule.invalid#zone": row(400, "There is no time zone {zone}.", "Name one as Asia/Seoul or UTC."),
  "schedule.invalid#never": row(400, "The cron line never comes."),
  "schedule.invalid#jitter": row(400, "The jitter is as long as the time between two runs ({seconds} s)."),
  "schedule.running": row(409, "Its last run has not ended yet.", "Wait for its end, or stop it."),
  "schedule.refused": row(409, "It could not be run: {why}."),
  "analysis.notFound": row(404, "There is no such analysis."),
  "source.notFound": row(404, "There is no data source {name}."),

  "job.notFound": row(404, "There is no such job."),
  "job.conflict": row(
    409,
    "Its tools may have acted: a job of this kind is not run again by others.",
    "Its owner asks, or runs the playbook, again.",
  ),
  "job.conflict#state": row(409, "Only a failed or cancelled job can be tried again."),
  "job.conflict#later": row(
    409,
    "It has not failed, or a later analysis has taken its place.",
    "Look at the latest analysis of this data source.",
  ),
  "approval.open": row(
    409,
    "An approved update, rollback or restart is still under way.",
    "Wait for its end; its progress is on this page.",
  ),
  "release.notFound": row(404, "No release {version} is offered.", "Stage it: owlctl update --stage ARCHIVE."),
  "release.notFound#earlier": row(
    404,
    "No release {version} to go back to is known here.",
    "See: owlctl rollback --plan",
  ),
  "rollback.conflict": row(409, "{why}"),
  "rollout.notFound": row(404, "There is no past rollout {id} here.", "On the machine: owlctl rollout list"),
  "rollout.notFound#running": row(404, "No rollout {id} is running."),
  "rollout.ended": row(
    409,
    "{id} has ended already, so there is nothing to cancel.",
    "Its end is in the list of past rollouts.",
  ),
  "cancel.open": row(409, "Somebody has asked already to cancel {id}.", "It ends after its current step."),

  // What a job, a tool or a program failed with: told in the job's row and in logs, not by a status of its own.
  "model.failed": row(500, "{why}"),
  "tool.notFound": row(500, "There is no tool {name}."),
  "tool.refused": row(500, "This call was not allowed by {who}.", "Do not call it again; say what it was needed for."),
  "tool.input": row(500, "The input of {name} does not fit: {why}"),
  "turn.lost": row(500, "This turn is another worker's now."),
  "recording.missing": row(500, "The file is no longer there or cannot be read."),
  "recording.notOne": row(500, "This file is not a recording."),
  "recording.silent": row(500, "This file holds no sound."),
  "recording.broken": row(500, "It cannot be {act}: {why}."),
  "ffmpeg.missing": row(500, "Reading this file needs ffmpeg."),
  "engine.refused": row(
    500,
    "The speech endpoint {where} refused the key ({status}).",
    "Check transcription.apiKey in owl.yaml.",
  ),
  "engine.failed": row(500, "The speech endpoint {where} answered {status}: {why}"),
  "engine.failed#large": row(500, "The speech endpoint's answer is too large."),
  "engine.failed#odd": row(500, "The speech endpoint {where} answered something that is no transcription."),
  "engine.failed#program": row(500, "{name} ended with {why}."),
  "engine.away": row(500, "The speech endpoint did not do its work: {why}.", "Try again later."),
  "engine.missing": row(500, "No speech recogniser is installed."),
  "engine.missing#named": row(500, "The speech recogniser {name} is not installed."),
  "program.timeout": row(500, "{name} did not end within {seconds} s."),
  "program.memory": row(500, "{name} took more memory than it may."),
  "program.output": row(500, "{name} printed more than 8 MiB."),
  "program.notFound": row(500, "{name} could not be started."),
  "sql.refused": row(500, "{why}"),
  "sql.refused#writes": row(500, "Only statements that read are run (SELECT, WITH, VALUES, TABLE, EXPLAIN, SHOW)."),
  "sql.refused#closed": row(500, "{name} is not open to statements here."),
  "sql.refused#escaped": row(500, 'Names in escapes (U&"…") are not taken here.'),
  "sql.refused#repeats": row(500, "{name} makes at most {most} characters here."),
  "sql.refused#slow": row(500, "The statement ran longer than {seconds} s and was cancelled."),
  "sql.refused#wrote": row(500, "The statement would write; only reading is allowed."),
  "limit.statementsPerMinute": row(
    429,
    "You have run {count} statements within a minute; the next one is taken in {seconds} s.",
  ),
  "table.notFound": row(500, "There is no table {table} in {source}.", "List the tables first."),
  "source.away": row(
    500,
    "The data source {source} does not answer: {why}.",
    "Check its address in owl.yaml (dataSources) and that it is running.",
  ),
  "worker.registered": row(
    500,
    "Another worker process lives under this instance's id.",
    "Wait until it is taken for gone (30 s of silence); owld starts a new instance meanwhile.",
  ),
  "instance.environment": row(
    500,
    "This program is started by owld and was given no configuration.",
    "Start Owl with npm start or owld.",
  ),
  "instance.environment#database": row(500, "The configuration names no database."),
  "queue.declaration": row(
    500,
    "The queue {name}: {what}.",
    "Run the prepare step of this release: it brings the queues in line.",
  ),
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorKey = keyof typeof ERRORS;

const filled = (sentence: string, values: Readonly<Record<string, string | number>>): string =>
  sentence.replace(/\{(\w+)\}/g, (mark, name: string) => String(values[name] ?? mark));

/** The error of that row; `options` add data and cause, or another next step. */
export function failure(
  key: ErrorKey,
  values: Readonly<Record<string, string | number>> = {},
  options: OwlErrorOptions = {},
): OwlError {
  const { sentence, next }: ErrorRow = ERRORS[key];
  const way = options.next ?? (next === undefined ? undefined : filled(next, values));
  return new OwlError(key.replace(/#.*/, ""), filled(sentence, values), {
    ...options,
    ...(way === undefined ? {} : { next: way }),
  });
}

/** A failure as it was told before, from its record: a repeat says the same. */
export function failedBefore(code: string, message: string, next?: string): OwlError {
  return new OwlError(code, message, next === undefined ? {} : { next });
}

/** The status a code is answered with; null: it is none of ours to tell. */
export function statusOf(code: string): number | null {
  return (ERRORS as Readonly<Record<string, ErrorRow>>)[code]?.status ?? null;
}
