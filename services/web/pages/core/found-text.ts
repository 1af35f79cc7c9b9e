// A passage that a search found, cut where the words looked for stand.

interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

/** The passage in pieces; those that are the words, whatever their case, are marked. */
export function piecesOf(passage: string, words: string): readonly Piece[] {
  const wanted = words.trim().replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  if (wanted === "") return [{ text: passage, isMatch: false }];
  // Split by a group of its own: what is between two matches stands at the even places.
  return passage
    .split(new RegExp(`(${wanted})`, "giu"))
    .map((text, index) => ({ text, isMatch: index % 2 === 1 }))
    .filter(({ text }) => text !== "");
}
