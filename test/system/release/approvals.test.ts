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

const ROOT = new URL("../../..", import.meta.url).pathname;
const BOUND_MS = 600_000;
let releases: string;
let good: string;
let incompatible: string;
/** The version of this checkout. */
let own: string;
let owl: Installation;
let caller: Caller;

beforeAll(async () => {
  releases = mkdtempSync(join(tmpdir(), "owl-approvals-"));
  chmodSync(releases, 0o755);
  good = await makeRelease(releases, "9.4.0", {});
  const next = String(readdirSync(join(ROOT, "migrations")).length + 1).padStart(4, "0");
  incompatible = await makeRelease(releases, "9.5.0", {
    [`migrations/${next}_more.sql`]: "-- incompatible\nALTER TABLE owl.turn ADD COLUMN more text;\n",
  });
  owl = await startInstallation();
  own = (await owl.status()).release.version;
  caller = createCaller(owl.port);
  expect(await caller.signIn()).toBe(true);
});
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
/** What going back to `version` costs, once it is as asked. */
const backTo = (version: string, holds: (plan: Row) => boolean): Promise<Row> =>
  found(
    async () => {
      const offer = listOf(await page(), "rollbacks").find((one) => one.version === version);
      return offer !== undefined && holds(offer.plan as Row) ? (offer.plan as Row) : null;
    },
    () => `nobody offers to go back to ${version} like that`,
  );
const goBack = (version: string) => caller.once("POST", "/api/admin/rollback/approve", { body: { version } });
/** Past rollouts as the page lists them, newest first, once the newest is as asked. */
const pastRollouts = (holds: (newest: Row) => boolean): Promise<readonly Row[]> =>
  found(
    async () => {
      const items = listOf((await caller.once("GET", "/api/admin/rollouts")).body, "items");
      return items[0] !== undefined && holds(items[0]) ? items : null;
    },
    () => "the list of rollouts does not tell it",
  );
async function sql(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  const client = new Client({ connectionString: metastoreUrl(owl.home) });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
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
      const undone = await sql(
        "UPDATE owl.approval SET state = 'waiting', rollout = NULL, ended_at = NULL WHERE id = $1 RETURNING id",
        [id],
      );
      expect(undone).toHaveLength(1);
      expect(await ended(id)).toMatchObject({ state: "succeeded", rollout: row.rollout });
      expect((await owl.rollouts()).map((one) => one.id)).toEqual(rollouts);
      expect(pidsOf(await owl.status())).toEqual(pidsOf(after));
      expect(readdirSync(join(owl.home, "releases")).sort()).toEqual(["9.3.9", "9.4.0"]);
    },
    BOUND_MS,
  );

  test(
    "going back by code alone is done once, whoever presses; the list says who asked and what it took",
    async () => {
      expect(await backTo(own, ({ verdict }) => verdict === "planned")).toMatchObject({ restores: false, lost: null });
      const both = await Promise.all([goBack(own), goBack(own)]);
      expect(both.map(({ status }) => status).sort()).toEqual([202, 409]);
      const id = textOf(both.find(({ status }) => status === 202)?.body ?? {}, "approvalId");
      const row = await ended(id);
      expect(row).toMatchObject({ state: "succeeded", kind: "rollback", version: own });
      await owl.until(({ state, release }) => state === "steady" && release.version === own);
      const [newest] = await pastRollouts(({ kind }) => kind === "rollback");
      expect(newest).toMatchObject({ id: row.rollout, state: "succeeded", askedBy: "admin" });
      const whole = (await caller.once("GET", `/api/admin/rollouts/${row.rollout}`)).body;
      expect(listOf(whole, "steps").map(({ action }) => action)).toEqual(
        expect.arrayContaining(["preflight", "drain", "replace", "confirm", "switch", "prune"]),
      );
      const rollouts = (await owl.rollouts()).map((one) => one.id);
      await sql("UPDATE owl.approval SET state = 'waiting', rollout = NULL, ended_at = NULL WHERE id = $1", [id]);
      expect(await ended(id)).toMatchObject({ state: "succeeded", rollout: row.rollout });
      expect((await owl.rollouts()).map((one) => one.id)).toEqual(rollouts);
    },
    BOUND_MS,
  );

  test(
    "a wish to cancel that comes after the end is refused with how it had ended",
    async () => {
      const [last] = await owl.rollouts();
      expect((await caller.once("POST", `/api/admin/rollouts/${last?.id}/cancel`)).status).toBe(409);
      // Written before web could know of the end.
      await sql("INSERT INTO owl.rollout_cancel (id, rollout, account_name) VALUES (gen_random_uuid(), $1, 'admin')", [
        last?.id,
      ]);
      const answered = await found(
        async () => (await sql("SELECT state, message FROM owl.rollout_cancel WHERE state <> 'waiting'"))[0] ?? null,
        () => "owld did not answer",
      );
      expect(answered).toEqual({ state: "refused", message: `${last?.id} had ended before: it succeeded.` });
    },
    BOUND_MS,
  );

  test(
    "going back over a database copy tells what is lost before, does it, and the restored approvals start nothing",
    async () => {
      const staged = await owl.ctl("update", "--stage", incompatible, "--json");
      expect(staged.code, staged.err).toBe(0);
      await offered("9.5.0");
      const asked = await approve("9.5.0");
      expect(asked.status).toBe(202);
      const update = await ended(textOf(asked.body, "approvalId"));
      expect(update).toMatchObject({ state: "succeeded" });
      await owl.until(({ state, release }) => state === "steady" && release.version === "9.5.0");
      expect((await caller.once("POST", "/api/conversations", { body: {} })).status).toBe(201);

      const plan = await backTo(own, ({ lost }) => Number((lost as Row | null)?.count) > 0);
      expect(plan).toMatchObject({ verdict: "planned", restores: true, lost: { firstAt: expect.any(String) } });
      expect(Number(plan.closedMs)).toBeGreaterThan(0);
      expect((await goBack(own)).status).toBe(202);
      await owl.until(
        ({ state, release, rollout }) => state === "steady" && release.version === own && rollout === null,
      );
      // The restored list ends with an older rollback: it is not the one to be read.
      const [back] = await owl.rollouts();
      const items = await pastRollouts(({ id }) => id === back?.id);
      expect(items[0]).toMatchObject({ kind: "rollback", state: "succeeded", askedBy: "admin" });
      expect(items[1]).toMatchObject({ id: update.rollout, kind: "update", state: "succeeded" });
      // The copy was taken while that update ran: its approval came back as running, and is told its old end.
      expect(await ended(textOf(asked.body, "approvalId"))).toMatchObject({
        state: "succeeded",
        rollout: update.rollout,
      });
      expect((await owl.rollouts()).map(({ id }) => id)).toEqual(items.map(({ id }) => id));
    },
    BOUND_MS,
  );
});
