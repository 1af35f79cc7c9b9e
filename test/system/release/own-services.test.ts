// An installation whose services are a team's own: Owl itself (owld, its proxy) is updated and taken back under steady
// requests, and their processes run on.

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Status } from "../../../config/control-api.ts";
import { type Installation, pidsOf, startInstallation, visitor } from "../../support/installation.ts";
import { makeRelease } from "../../support/releases.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const BOUND_MS = 600_000;
let releases: string;
let next: string;
let owl: Installation;

beforeAll(async () => {
  releases = mkdtempSync(join(tmpdir(), "owl-own-"));
  chmodSync(releases, 0o755);
  const proxy = "supervisor/proxy/main.ts";
  next = await makeRelease(releases, "9.5.0", { [proxy]: `${readFileSync(join(ROOT, proxy), "utf8")}// Changed.\n` });
  owl = await startInstallation({
    prepare: (home) =>
      writeFileSync(
        join(home, "server.mjs"),
        `import { createServer } from "node:http";
createServer((_, response) => response.end("theirs\\n")).listen(Number(process.env.PORT), "127.0.0.1");\n`,
      ),
    yaml: (home) => `services:
  theirs:
    command: ["${process.execPath}", server.mjs]
    cwd: ${home}
    listen: port
    replicas: 2
    routes: [{path: "/"}]
`,
  });
});
afterAll(async () => {
  await owl?.stop();
  rmSync(releases, { recursive: true, force: true });
}, BOUND_MS);

const proxies = ({ proxy }: Status): number[] => proxy.processes.map(({ pid }) => pid);

test(
  "Owl itself is updated and taken back; no request fails, and no process of theirs is touched",
  async () => {
    const before = await owl.status();
    const visits = visitor(owl.port);
    const plan = await owl.ctl("update", next, "--plan");
    expect([plan.code, plan.out]).toEqual([10, expect.stringContaining("Your services run on, untouched")]);
    const overlap = await owl.ctl("update", next, "--overlap", "--plan");
    expect([overlap.code, overlap.err]).toEqual([1, expect.stringContaining("Leave out --overlap")]);
    const done = await owl.ctl("update", next, "--yes", "--json");
    expect(done.code, done.err + done.out).toBe(0);
    const renewed = (from: Status) => (now: Status) =>
      now.proxy.processes.length === 1 && !proxies(from).includes(proxies(now)[0] ?? 0);
    const after = await owl.until(
      (now) => now.state === "steady" && now.release.version === "9.5.0" && renewed(before)(now),
    );
    expect(after.pid).not.toBe(before.pid);
    expect(pidsOf(after)).toEqual(pidsOf(before));

    const back = await owl.ctl("rollback", "--yes", "--json");
    expect(back.code, back.err + back.out).toBe(0);
    const { version } = before.release;
    const returned = await owl.until((now) => now.state === "steady" && now.release.version === version);
    expect(pidsOf(returned)).toEqual(pidsOf(before));
    expect(await visits.stop()).toEqual([]);
    // What was not kept by either is gone; what ran is there to go forward to again.
    expect(readdirSync(join(owl.home, "releases"))).toEqual(["9.5.0"]);
  },
  BOUND_MS,
);
