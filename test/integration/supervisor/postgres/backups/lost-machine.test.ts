// A whole Owl loses its machine: everything is killed and its home removed, the backup directory stays. Restored from
// there it comes up with every turn and every upload, and runs nothing twice.

import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseLsn, parsePiece } from "../../../../../supervisor/postgres/backups/core/wal.ts";
import {
  found,
  INSTALLATION_YAML,
  type Installation,
  metastoreUrl,
  startInstallation,
} from "../../../../support/installation.ts";
import { ask, postmastersOf } from "../../../../support/installation-facts.ts";
import { killMachine, loseMachine, owlctlIn, runIn, signedIn, upload } from "../../../../support/lost-machine.ts";
import { poll } from "../../../../support/poll.ts";
import { wavBytes } from "../../../../support/recordings.ts";

const BOUND_MS = 1_200_000;

let directory: string;
let owl: Installation;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "owl-backup-"));
  const passphrase = join(tmpdir(), `owl-passphrase-${process.pid}`);
  writeFileSync(passphrase, "correct horse battery staple\n");
  const backup = `backup: {directory: ${directory}, walEvery: 1s, encrypt: {passphraseFile: ${passphrase}}}\n`;
  owl = await startInstallation({ yaml: () => INSTALLATION_YAML + backup });
}, BOUND_MS);
afterAll(async () => {
  await owl?.stop();
  for (const path of [directory, `${tmpdir()}/owl-passphrase-${process.pid}`])
    rmSync(path, { recursive: true, force: true });
}, BOUND_MS);

/** Everything written so far is in the backup directory. */
async function caughtUp(): Promise<void> {
  const [row] = await ask(metastoreUrl(owl.home), "SELECT pg_current_wal_lsn()::text AS lsn");
  const lsn = parseLsn(String(row?.lsn));
  await poll(() => readdirSync(join(directory, "wal")).some((name) => (parsePiece(name)?.to ?? 0n) >= lsn));
}

const client = () => signedIn(owl);
const owlctl = (...args: string[]) => owlctlIn(owl, ...args);

test(
  "a lost home comes back with every turn and upload, and a job it held is ended, not run",
  async () => {
    const taken = await owl.ctl("backup", "--now", "--json");
    expect(taken).toMatchObject({ code: 0 });
    const { id } = JSON.parse(taken.out) as { readonly id: string };
    const web = await client();
    const answered = await web.ask("SELECT 6 * 7 AS answer");
    expect(await web.ended(answered.turnId)).toMatchObject({ state: "answered" });
    const file = wavBytes(20);
    const uploaded = await upload(web, file);
    const moment = new Date().toISOString();
    // Its worker gone, this one is in line when the machine is lost.
    expect(await owl.ctl("stop", "worker")).toMatchObject({ code: 0 });
    await owl.until(({ services }) => services.find(({ name }) => name === "worker")?.instances.length === 0);
    const waiting = await web.ask("SELECT 1");
    await caughtUp();
    const key = ["--passphrase-file", join(tmpdir(), `owl-passphrase-${process.pid}`)];

    const inUse = await owlctl("restore", directory, ...key);
    expect([inUse.code, inUse.err]).toEqual([1, expect.stringContaining("is no empty home")]);
    // The moment before the last question, beside the running one.
    const into = mkdtempSync(join(tmpdir(), "owl-beside-"));
    try {
      writeFileSync(join(into, "thesis.txt"), "mine");
      const foreign = await owlctl("restore", directory, "--into", into, ...key);
      expect([foreign.code, foreign.err]).toEqual([1, expect.stringContaining("it holds thesis.txt")]);
      expect(readdirSync(into)).toEqual(["thesis.txt"]);
      rmSync(join(into, "thesis.txt"));
      const past = await owlctl("restore", directory, "--at", moment, "--into", into, "--json", ...key);
      expect(past).toMatchObject({ code: 0 });
      expect(JSON.parse(past.out)).toMatchObject({ counts: { turn: 1, upload: 1 } });
    } finally {
      rmSync(into, { recursive: true, force: true });
    }
    await loseMachine(owl);

    const wrongKey = await owlctl("restore", directory);
    expect([wrongKey.code, wrongKey.err]).toEqual([1, expect.stringContaining("no passphrase was given")]);
    // What lies behind a gap is not lost in silence.
    const pieces = join(directory, "wal");
    const piece = readdirSync(pieces).sort().at(-2) ?? "";
    renameSync(join(pieces, piece), join(directory, piece));
    const cut = await owlctl("restore", directory, "--plan", ...key);
    expect([cut.code, cut.err]).toEqual([1, expect.stringContaining("is missing: it breaks off at")]);
    renameSync(join(directory, piece), join(pieces, piece));
    const plan = await owlctl("restore", directory, "--plan", "--json", ...key);
    expect([plan.code, JSON.parse(plan.out).backup]).toEqual([10, id]);
    const restored = await owlctl("restore", directory, "--json", ...key);
    expect(restored).toMatchObject({ code: 0 });
    expect(JSON.parse(restored.out)).toMatchObject({
      backup: id,
      counts: { account: 1, turn: 2, upload: 1 },
      uploads: { complete: 1, bytes: file.length, missing: [] },
      config: { file: join(owl.home, "owl.yaml"), inPlace: true },
    });

    owl.start();
    const again = await client();
    expect(await again.turn(answered.turnId)).toMatchObject({ state: "answered" });
    expect(await again.turn(waiting.turnId)).toMatchObject({ state: "failed" });
    const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    expect(sha256(readFileSync(join(owl.home, "uploads", uploaded)))).toBe(sha256(file));

    // It takes the directory over and goes on there, along a new timeline.
    const { backup } = await owl.until((status) => (status.backup?.last?.id ?? id) !== id);
    expect(backup?.problem).toBeNull();
    const drill = await owlctl("drill", "--json");
    expect(drill).toMatchObject({ code: 0 });
    expect(JSON.parse(drill.out)).toMatchObject({ passed: true, uploads: 1, counts: { turn: 2 } });
    expect((await owl.status()).backup?.drill).toMatchObject({ passed: true });

    expect((await found(owl.status, () => "no status")).warnings).toEqual([]);

    // Turned off, PostgreSQL keeps its log for nobody.
    const yaml = readFileSync(join(owl.home, "owl.yaml"), "utf8");
    const slots = async () => (await ask(metastoreUrl(owl.home), "SELECT slot_name FROM pg_replication_slots")).length;
    expect(await slots()).toBe(1);
    writeFileSync(join(owl.home, "owl.yaml"), yaml.replace(/^backup:.*$/m, ""));
    expect(await owl.ctl("reload")).toMatchObject({ code: 0 });
    await poll(async () => (await slots()) === 0);
    writeFileSync(join(owl.home, "owl.yaml"), yaml);
    expect(await owl.ctl("reload")).toMatchObject({ code: 0 });
    await poll(async () => (await slots()) === 1);
  },
  BOUND_MS,
);

test(
  "a standby follows, takes over with what was accepted last, and the Owl before it runs nothing more",
  async () => {
    const key = ["--passphrase-file", join(tmpdir(), `owl-passphrase-${process.pid}`)];
    const standby = { home: mkdtempSync(join(tmpdir(), "owl-standby-")) };
    chmodSync(standby.home, 0o755);
    try {
      const following = owlctlIn(standby, "standby", "follow", directory, ...key);
      const status = async () => {
        const { code, out } = await owlctlIn(standby, "standby", "status", "--json");
        return code === 0 ? (JSON.parse(out) as { readonly logUntil: string }) : null;
      };
      await found(status, () => "it does not follow");
      const web = await client();
      const asked = await web.ask("SELECT 6 * 7 AS answer");
      expect(await web.ended(asked.turnId)).toMatchObject({ state: "answered" });
      const [before] = await ask(metastoreUrl(owl.home), "SELECT count(*)::int AS turns FROM owl.turn");
      await caughtUp();
      await killMachine(owl);

      const promoted = await owlctlIn(standby, "standby", "promote", "--json");
      expect(promoted).toMatchObject({ code: 0 });
      expect(JSON.parse(promoted.out)).toMatchObject({ counts: { turn: before?.turns }, config: { inPlace: true } });
      expect(await following).toMatchObject({ code: 0 });
      // Left by it, so that what its jobs were in the middle of is ended before anything runs there.
      expect(readdirSync(standby.home)).toContain("restored.json");
      expect(readdirSync(standby.home)).not.toContain("standby.json");

      const again = await runIn(owl.home, "supervisor/owld");
      expect([again.code, again.err]).toEqual([
        78,
        expect.stringContaining("A standby was promoted in this Owl's place"),
      ]);
      expect(postmastersOf(owl.home)).toEqual([]);
    } finally {
      rmSync(standby.home, { recursive: true, force: true });
    }
  },
  BOUND_MS,
);
