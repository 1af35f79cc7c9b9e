// Where things lie in supervisor/: a few rooms, and a top floor that can be read at a glance.

import { readdirSync } from "node:fs";
import { expect, test } from "vitest";

const ROOMS = [
  ...["control", "core", "instances", "observe", "postgres", "preflight", "process", "proxies", "proxy", "release"],
  ...["rollouts", "state", "systemd", "updates"],
];
const MOST_ENTRIES = 20;

test("supervisor/ has its known rooms and at most 20 entries", () => {
  const entries = readdirSync(new URL("../../../supervisor/", import.meta.url), { withFileTypes: true });
  expect(entries.filter((one) => one.isDirectory()).map(({ name }) => name)).toEqual(ROOMS);
  expect(entries.length).toBeLessThanOrEqual(MOST_ENTRIES);
});
