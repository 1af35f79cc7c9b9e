// Words of other programs are answered with a command that exists.

import { expect, test } from "vitest";
import { meantBy } from "../../../ctl/habits.ts";
import { COMMANDS } from "../../../ctl/registry.ts";

test.each(["ps", "up", "down", "tail", "undo", "doctor", "users"])("%s is answered with a command of ours", (word) => {
  expect(Object.keys(COMMANDS)).toContain(meantBy(word)?.split(" ")[0]);
  expect(Object.keys(COMMANDS)).not.toContain(word);
});

test("any other word is nobody's", () => {
  expect(meantBy("zzz")).toBeNull();
  expect(meantBy("constructor")).toBeNull();
});
