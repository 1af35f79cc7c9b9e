import { expect, test } from "vitest";
import { createOomKills } from "../../../../supervisor/process/oom-kills.ts";
import { createTestClock } from "../../../support/test-clock.ts";

test("a rise of the kernel's counter is lately for 15 s, and kills before the start are none of ours", async () => {
  const clock = createTestClock();
  let count = 7;
  const kills = createOomKills(clock, () => `nr_free_pages 1\noom_kill ${count}\nother 2\n`);
  expect(kills.lately()).toBe(false);
  count = 8;
  kills.look();
  await clock.advance(15_000);
  expect(kills.lately()).toBe(true);
  await clock.advance(1);
  expect(kills.lately()).toBe(false);
});

test.each([
  ["a kernel without the counter", () => "nr_free_pages 1\n"],
  [
    "no /proc",
    () => {
      throw new Error("ENOENT");
    },
  ],
])("with %s every kill may have been for memory", (_, read) => {
  expect(createOomKills(createTestClock(), read).lately()).toBe(true);
});
