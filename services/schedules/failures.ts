// How a schedule has fared of late. Pure.

/** How many of the newest runs failed in a row; what has not ended yet says nothing. Newest first. */
export function failuresInRow(outcomes: readonly ("failed" | "succeeded" | "open")[]): number {
  const ended = outcomes.filter((outcome) => outcome !== "open");
  const good = ended.indexOf("succeeded");
  return good === -1 ? ended.length : good;
}
