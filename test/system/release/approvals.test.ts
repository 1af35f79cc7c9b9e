// What an administrator approves on the page, from the row to its end: through the proxy and the web API alone. The web
// process only writes rows; owld executes them, once.

import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Status } from "../../../config/control-api.ts";
import { type Caller, createCaller, listOf, textOf } from "../../chaos/caller.ts";
import {
  found,
  type Installation,
  metastoreUrl,
  pidsOf,
  releasesOf,
  startInstallation,
} from "../../support/installation.ts";
import { archiveRelease, makeHollowRelease, makeRelease } from "../../support/releases.ts";

const BOUND_MS = 300_000;
let releases: string;
let good: string;
let owl: Installation;
let caller: Caller;

beforeAll(async () => {
  releases = mkdtempSync(join(tmpdir(), "owl-approvals-"));
  chmodSync(releases, 0o755);
  good = await makeRelease(releases, "9.4.0", {});
  owl = await startInstallation();
  caller = createCaller(owl.port);
  expect(await caller.signIn()).toBe(true);
}, BOUND_MS);
afterAll(async () => {
  caller?.close();
  await owl?.stop();
  rmSync(releases, { recursive: true, force: true });
}, BOUND_MS);

type Row = Readonly<Record<string, unknown>>;
const page = async (): Promise<Row> => (await caller.once("GET", "/api/admin/update")).body;
const offered = (version: string): Promise<Row> =>
  found(
    async () => listOf(await page(), "offers").find((one) => one.version === version) ?? null,
    () => `${version} is not offered`,
  );
/** The approval's row once it has come to its end. */
const ended = (id: string): Promise<Row> =>
  found(
    async () => {
      const row = listOf(await page(), "approvals").find((one) => one.id === id);
      return row === undefined || ["waiting", "running"].includes(String(row.state)) ? null : row;
    },
    () => `approval ${id} has no end`,
  );
const approve = (version: string) => caller.once("POST", "/api/admin/update/approve", { body: { version } });
const pidsOfService = (status: Status, name: string) =>
  status.services.filter((one) => one.name === name).flatMap(({ instances }) => instances.map(({ pid }) => pid));

describe("approved on the page", () => {
  test(
    "a release that lies in incoming/ is offered; one that cannot run fails with its reason, and no process is touched",
    async () => {
      const before = await owl.status();
      const archive = join(releases, "hollow.tar");
      archiveRelease(makeHollowRelease(releases, "9.3.9", good), archive);
      renameSync(archive, join(owl.home, "incoming/hollow.tar"));
      expect(await offered("9.3.9")).toMatchObject({ plan: { verdict: "planned", workers: "drainFirst" } });
      expect((await approve("1.2.3")).status).toBe(404);
      // Two administrators at once: one row, the other is told to wait.
      const both = await Promise.all([approve("9.3.9"), approve("9.3.9")]);
      expect(both.map(({ status }) => status).sort()).toEqual([202, 409]);
      const id = textOf(both.find(({ status }) => status === 202)?.body ?? {}, "approvalId");
      const row = await ended(id);
      expect(row).toMatchObject({ state: "failed", kind: "update", version: "9.3.9" });
      expect(String(row.message)).toMatch(/\S/);
      expect(row.progress).toMatchObject({ kind: "update", state: "failed", steps: expect.anything() });
      const after = await owl.until(({ state }) => state === "steady");
      expect(pidsOf(after)).toEqual(pidsOf(before));
    },
    BOUND_MS,
  );

  test(
    "a restart of one service replaces that one alone",
    async () => {
      const before = await owl.status();
      const asked = await caller.once("POST", "/api/admin/restart", { body: { services: ["web"] } });
      expect(asked.status).toBe(202);
      expect(await ended(textOf(asked.body, "approvalId"))).toMatchObject({ state: "succeeded", kind: "restart" });
      const after = await owl.until(({ state }) => state === "steady");
      expect(pidsOfService(after, "web")).not.toEqual(pidsOfService(before, "web"));
      expect(pidsOfService(after, "worker")).toEqual(pidsOfService(before, "worker"));
    },
    BOUND_MS,
  );

  test(
    "a staged release is offered, approved and runs; its row told waiting again by a restored database starts nothing",
    async () => {
      const staged = await owl.ctl("update", "--stage", good, "--json");
      expect(staged.code, staged.err).toBe(0);
      await offered("9.4.0");
      const asked = await approve("9.4.0");
      expect(asked.status).toBe(202);
      const id = textOf(asked.body, "approvalId");
      const row = await ended(id);
      expect(row).toMatchObject({ state: "succeeded", version: "9.4.0", progress: { state: "succeeded" } });
      const after = await owl.until(({ state, release }) => state === "steady" && release.version === "9.4.0");
      expect(releasesOf(after)).toEqual(["9.4.0"]);

      const rollouts = (await owl.rollouts()).map((one) => one.id);
      const client = new Client({ connectionString: metastoreUrl(owl.home) });
      await client.connect();
      const undone = await client.query(
        "UPDATE owl.approval SET state = 'waiting', rollout = NULL, ended_at = NULL WHERE id = $1",
        [id],
      );
      await client.end();
      expect(undone.rowCount).toBe(1);
      expect(await ended(id)).toMatchObject({ state: "succeeded", rollout: row.rollout });
      expect((await owl.rollouts()).map((one) => one.id)).toEqual(rollouts);
      expect(pidsOf(await owl.status())).toEqual(pidsOf(after));
      expect(readdirSync(join(owl.home, "releases")).sort()).toEqual(["9.3.9", "9.4.0"]);
    },
    BOUND_MS,
  );
});
