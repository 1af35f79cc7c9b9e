// What owld writes down (events, causes, reasons), in English. Pure. Written once, in the installation's language:
// a record has many readers, and one that changed its language with each of them could not be searched or compared.

export const recordedEn = {
  reloaded: (notes: readonly string[]) =>
    notes.length === 0
      ? "The configuration is read again: nothing differs."
      : `The configuration is read again. ${notes.join(" ")}`,
  stopped: (service: string) => `${service} is stopped by an operator.`,
  byOperator: "stopped by an operator",
  killedByOperator: "killed by an operator",
  nothingToCancel: (rollout: string) => `There is no rollout ${rollout}.`,
  cancelledTooLate: (rollout: string, state: "succeeded" | "failed") => `${rollout} had ended before: it ${state}.`,
  newerJobs: (count: number) =>
    `${count} ${count === 1 ? "job waits" : "jobs wait"} in a format that the running release does not know: turns among them are closed at their claim limit, the others wait. Update to the release they were accepted under: owlctl update ARCHIVE`,
};

export type Recorded = typeof recordedEn;
