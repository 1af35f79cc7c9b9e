// Releases that are no good, given to a running installation with a database of its own: each refused or rolled back
// with its reason, processes untouched or restored, nothing left in the releases folder.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { pack } from "tar-stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Status } from "../../../config/control-api.ts";
import { findBinaries } from "../../../supervisor/postgres/binaries.ts";
import { type Installation, pidsOf, releasesOf, startInstallation, visitor } from "../../support/installation.ts";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";
import { archiveRelease, makeHollowRelease, makeRelease } from "../../support/releases.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const BOUND_MS = 600_000;
let releases: string;
let postgres: TestPostgres;
let owl: Installation;
const path = { good: "", unready: "", crashing: "", incompatible: "" };

beforeAll(async () => {
  releases = mkdtempSync(join(tmpdir(), "owl-bad-"));
  chmodSync(releases, 0o755);
  const count = readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql")).length;
  path.good = await makeRelease(releases, "9.6.0", {});
  path.unready = await makeRelease(releases, "9.6.1", {
    "services/web/main.ts": "setInterval(() => undefined, 1_000);\n",
  });
  path.crashing = await makeRelease(releases, "9.6.2", {
    "services/worker/main.ts": `process.stderr.write("the new worker is broken\\n"); process.exit(3);\n`,
  });
  path.incompatible = await makeRelease(releases, "9.6.3", {
    [`migrations/${String(count + 1).padStart(4, "0")}_more.sql`]:
      "-- incompatible\nALTER TABLE owl.turn ADD COLUMN more text;\n",
  });
  postgres = await startTestPostgres();
  const url = await postgres.database();
  // pg_dump and pg_restore of this server's version first in owld's PATH, the dump cut short behind pg_dump's back.
  const { dir } = await findBinaries({ configured: "auto", major: null, path: process.env.PATH ?? "" });
  const programs = join(releases, "programs");
  mkdirSync(programs);
  const pgDump = `#!/bin/sh\n"${dir}/pg_dump" "$@" || exit\nfor one in "$@"; do case "$one" in --file=*) truncate -s 2000 "\${one#--file=}";; esac; done\n`;
  writeFileSync(join(programs, "pg_dump"), pgDump, { mode: 0o755 });
  for (const name of ["pg_restore", "psql"])
    writeFileSync(join(programs, name), `#!/bin/sh\nexec "${dir}/${name}" "$@"\n`, { mode: 0o755 });
  owl = await startInstallation({
    path: `${programs}:${process.env.PATH}`,
    yaml: () => `stop: {grace: 8s}
turn: {finish: 3s, wrapUp: 2s}
rollout: {confirm: 1s, healthTimeout: 20s}
web: {replicas: 1, pool: 5}
worker: {replicas: 1, pool: 5, concurrency: {chat: 1, transcription: 1, playbook: 1, schema-analysis: 1}}
database: {url: "${url}"}
`,
  });
});
afterAll(async () => {
  await owl?.stop();
  await postgres?.stop();
  rmSync(releases, { recursive: true, force: true });
}, BOUND_MS);

/** What an update from `source` told; it must have failed, and nothing may lie in the releases folder. */
async function failed(source: string): Promise<{ said: string; before: Status; after: Status }> {
  const before = await owl.until(({ state }) => state === "steady");
  const done = await owl.ctl("update", source, "--yes", "--json");
  expect(done.code, done.err + done.out).toBe(1);
  const after = await owl.until(({ state }) => state === "steady");
  expect(readdirSync(join(owl.home, "releases"))).toEqual([]);
  expect(releasesOf(after)).toEqual(releasesOf(before));
  expect(after.pid).toBe(before.pid);
  return { said: done.err + done.out, before, after };
}

/** As `failed`, and no process was touched. */
async function refused(source: string, reason: RegExp): Promise<void> {
  const { said, before, after } = await failed(source);
  expect(said).toMatch(reason);
  expect(pidsOf(after)).toEqual(pidsOf(before));
}

interface Entry {
  readonly name: string;
  readonly text?: string;
  readonly linkname?: string;
}

/** The release at `from` as an archive with further entries. */
async function archiveWith(from: string, entries: readonly Entry[]): Promise<string> {
  const output = `${from}.tar.gz`;
  const tar = pack();
  const files = ["manifest.json", "a.txt"].map(
    (name): Entry => ({ name, text: readFileSync(join(from, name), "utf8") }),
  );
  for (const { name, text, linkname } of [...files, ...entries]) {
    if (linkname === undefined) tar.entry({ name }, text ?? "");
    else tar.entry({ name, type: "symlink", linkname });
  }
  tar.finalize();
  await pipeline(tar, createGzip(), createWriteStream(output));
  return output;
}

let made = 0;
const hollow = (files?: Readonly<Record<string, string>>, change?: Readonly<Record<string, unknown>>): string =>
  makeHollowRelease(releases, `9.7.${made++}`, path.good, files, change);

describe("refused before any process is touched", () => {
  test("a truncated archive", { timeout: BOUND_MS }, async () => {
    const archive = join(releases, "truncated.tar");
    archiveRelease(hollow({ "a.txt": "x".repeat(100_000) }), archive);
    writeFileSync(archive, readFileSync(archive).subarray(0, 50_000));
    await refused(archive, /truncated or damaged/);
  });
  test("a changed byte", { timeout: BOUND_MS }, async () => {
    const archive = join(releases, "changed.tar");
    archiveRelease(hollow(), archive);
    const bytes = readFileSync(archive);
    bytes.write("N", bytes.indexOf("nothing to run"));
    writeFileSync(archive, bytes);
    await refused(archive, /a\.txt differs from its manifest/);
  });
  test("a path that climbs out", { timeout: BOUND_MS }, async () => {
    await refused(await archiveWith(hollow(), [{ name: "../climbed.txt", text: "x" }]), /climbed\.txt/);
    expect(readdirSync(owl.home)).not.toContain("climbed.txt");
  });
  test("a link that points out", { timeout: BOUND_MS }, async () => {
    const from = hollow(undefined, { links: { "b.txt": "../../owl.yaml" } });
    await refused(
      await archiveWith(from, [{ name: "b.txt", linkname: "../../owl.yaml" }]),
      /points out of the release/,
    );
  });
  test("a manifest from the future", { timeout: BOUND_MS }, async () => {
    await refused(hollow(undefined, { format: 2 }), /format 2/);
  });
  test("a release for another platform", { timeout: BOUND_MS }, async () => {
    await refused(hollow(undefined, { platform: "linux-mips" }), /is for linux-mips/);
  });
  test("a FAIL of the new release's own preflight", { timeout: BOUND_MS }, async () => {
    const line = { check: "moon", verdict: "FAIL", found: "it is new", why: "w", command: "wait" };
    const script = `process.stdout.write(${JSON.stringify(JSON.stringify([line]))});\n`;
    const source = hollow({ "supervisor/preflight/preflight-once.ts": script });
    await refused(source, /moon \(release 9\.7\.\d+\): it is new/);
    const plan = await owl.ctl("update", source, "--plan");
    expect(plan.out, plan.err).toMatch(/It would be refused by preflight, moon: it is new/);
    rmSync(join(owl.home, "releases"), { recursive: true, force: true });
  });
  test("a full disk while it is staged", { timeout: BOUND_MS }, async () => {
    const folder = join(owl.home, "releases");
    mkdirSync(folder, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=20m,mode=755", "tmpfs", folder]);
    try {
      await refused(path.good, /disk is full/);
    } finally {
      execFileSync("umount", [folder]);
    }
  });
});

describe("rolled back", () => {
  test("a new web that never becomes ready", { timeout: BOUND_MS }, async () => {
    const visits = visitor(owl.port);
    const { said } = await failed(path.unready);
    expect(said).toMatch(/was not ready within 20 s[\s\S]*Rolled back to/);
    expect(await visits.stop()).toEqual([]);
  });
  test("a new worker that crashes", { timeout: BOUND_MS }, async () => {
    const visits = visitor(owl.port);
    const { said } = await failed(path.crashing);
    expect(said).toMatch(/exit code 3[\s\S]*Rolled back to/);
    expect(await visits.stop()).toEqual([]);
  });
  test("a dump that cannot be read back: nothing is migrated", { timeout: BOUND_MS }, async () => {
    const { said } = await failed(path.incompatible);
    expect(said).toMatch(/the dump cannot be read back[\s\S]*Rolled back to/);
    expect(
      readdirSync(join(owl.home, "copies")).flatMap((name) => readdirSync(join(owl.home, "copies", name))),
    ).toEqual([]);
  });
});
