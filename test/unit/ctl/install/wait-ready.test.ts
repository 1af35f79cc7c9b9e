import { expect, test } from "vitest";
import type { Status } from "../../../../config/control-api.ts";
import { waitReady } from "../../../../ctl/install/wait-ready.ts";
import { aStatus } from "../../../support/fake-owld.ts";

function waiting(seen: readonly (Status | null)[]) {
  const said: string[] = [];
  let now = 0;
  let looks = 0;
  const ended = waitReady({
    clock: {
      monotonicMs: () => now,
      sleep: async (ms) => {
        now += ms;
      },
    },
    status: async () => seen[Math.min(looks++, seen.length - 1)] ?? null,
    say: (line) => said.push(line),
    words: (services) => services ?? "nobody answers",
  });
  return { ended, said };
}

test("it waits until everything serves and says each step once", async () => {
  const half = aStatus({ state: "starting" });
  const { ended, said } = waiting([null, null, half, half, aStatus({ state: "steady" })]);
  expect((await ended)?.state).toBe("steady");
  expect(said).toEqual(["nobody answers", "web 1/2"]);
});

test("what never comes up ends the wait with how it stands", async () => {
  const { ended } = waiting([aStatus({ state: "degraded" })]);
  expect((await ended)?.state).toBe("degraded");
});
