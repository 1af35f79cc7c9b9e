import { expect, test } from "vitest";
import { createWholeCharacters, slicesOf } from "../../../../services/core/whole-characters.ts";

test("a character cut in two deltas comes out whole", () => {
  const whole = createWholeCharacters();
  expect(["a\uD83D", "\uDE00b", "c"].map(whole)).toEqual(["a", "😀b", "c"]);
});

test("slices are no longer than asked, hold everything, and end between characters", () => {
  expect([...slicesOf("ab😀c😀", 3)]).toEqual(["ab", "😀c", "😀"]);
  expect([...slicesOf("", 3)]).toEqual([]);
  expect([...slicesOf("ab\uD83D", 3)]).toEqual(["ab\uD83D"]);
});
