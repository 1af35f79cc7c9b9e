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
} as const;
