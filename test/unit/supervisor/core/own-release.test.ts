// Releases of a team's own code: what runs from which, what is gone back to, what goes.

import { expect, test } from "vitest";
import type { Config } from "../../../../config/config.ts";
import type { OwnRelease } from "../../../../config/deploy-api.ts";
import {
  changedReleases,
  earlierReleases,
  outdatedReleases,
  releaseBefore,
  withReleases,
} from "../../../../supervisor/core/own-release.ts";

const release = (id: string, ...stood: string[]): OwnRelease => ({
  ...{ id, madeAt: "", from: "", sha256: "", files: 1, bytes: 1 },
  stood: Object.fromEntries(stood.map((name) => [name, ""])),
});
const all = [release("10"), release("9", "web"), release("8", "worker"), release("7", "web"), release("2", "web")];

test.each([
  ["9", "7"],
  ["10", "9"],
  ["7", "2"],
  ["2", null],
])("before %s of web stood %s", (present, before) => expect(releaseBefore(all, "web", present)).toBe(before));

test("what goes is neither new, in force, running nor the way back", () => {
  expect(outdatedReleases(all, 1, { web: "9" }, new Set(["8"]))).toEqual(["2"]);
  expect(outdatedReleases(all, 5, {}, new Set())).toEqual([]);
  expect(outdatedReleases(all, 1, {}, new Set())).toEqual(["9", "8", "7", "2"]);
});

test("what a service ran before is remembered, the newest first, so many and none twice", () => {
  let earlier = {};
  let present: Record<string, string> = {};
  for (const web of ["1", "2", "3", "2", "4", "5", "5"]) {
    const next = { web, other: "1" };
    earlier = earlierReleases(earlier, present, next);
    present = next;
  }
  expect(earlier).toEqual({ web: ["4", "2", "3"], other: [] });
});

test("a service with a release runs in it, below the directory it names; others stay where they are", () => {
  const service = (name: string, within: string | null) => ({
    ...{ name, cwd: `/src/${name}` },
    routes: ["dist", null].map((below) => ({ files: { directory: "/src/x", within: below } })),
    code: { source: "/src", within, before: [], release: null },
  });
  const services = [service("web", "sub"), service("worker", ""), service("fixed", null)];
  const releases = changedReleases({ web: "3", fixed: "3", worker: "2" }, ["web"], "4");
  const found = withReleases({ services } as unknown as Config, changedReleases(releases, ["worker"], null), "/r");
  expect(found.services.map(({ cwd, code }) => [cwd, code?.release])).toEqual([
    ["/r/4/code/sub", "4"],
    ["/src/worker", null],
    ["/src/fixed", "3"],
  ]);
  expect(found.services[0]?.routes.map(({ files }) => files?.directory)).toEqual(["/r/4/code/dist", "/src/x"]);
});
