import { expect, test } from "vitest";
import { isGone, parseStat } from "../../../../supervisor/process/proc-identity.ts";

const stat = (name: string, state = "S"): string =>
  `4242 (${name}) ${state} 1 4240 4239 0 -1 4194560 1 0 0 0 17 5 0 0 20 0 11 0 163697 1000000 2500 18446744073709551615`;

test("the fields are found behind whatever name a process gives itself", () => {
  for (const name of ["node", "a) b", ") S 1 (", "tmux: server", ""]) {
    expect(parseStat(stat(name))).toEqual({
      pid: 4242,
      state: "S",
      parent: 1,
      group: 4240,
      session: 4239,
      userTicks: 17,
      systemTicks: 5,
      startTicks: "163697",
      rssPages: 2500,
    });
  }
});

test("what is no stat is null", () => {
  for (const text of ["", "4242 (node", "4242 (node) S 1 2"]) expect(parseStat(text)).toBeNull();
});

test("zombies and dead ones are gone, stopped ones are not", () => {
  const gone = (state: string): boolean | null => {
    const parsed = parseStat(stat("node", state));
    return parsed === null ? null : isGone(parsed);
  };
  expect(["Z", "X", "x"].map(gone)).toEqual([true, true, true]);
  expect(["R", "S", "D", "T", "t", "I"].map(gone)).toEqual([false, false, false, false, false, false]);
});
