// What owlctl asks of a backup directory, with or without a running owld: its list, a proof of one, a restore, a drill;
// of a stopped home's database: its upgrade; and of a standby.

import { existsSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import type { Language } from "../../../config/language.ts";
import { CODE_ROOT, loadConfig } from "../../../config/load.ts";
import { locateConfigFile } from "../../../config/locate.ts";
import { systemClock, systemRandom } from "../../../config/system-time.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { textOf } from "../../core/text/text.ts";
import { readMigrations } from "../migrate.ts";
import { goBack, planUpgrade, upgrade } from "../upgrade/upgrade.ts";
import { type BackupManifest, MANIFEST } from "./core/manifest.ts";
import { openPlace } from "./directory.ts";
import { drill } from "./drill.ts";
import { readPassphrase } from "./passphrase.ts";
import { planRestore, type RestoreRequest, restore } from "./restore.ts";
import { verifyBackup, verifyUploads } from "./restored-data.ts";
import { follow, promote, standbyStatus } from "./standby.ts";

interface Where {
  readonly language: Language;
  readonly directory: string;
  readonly passphraseFile: string | null;
}

type UpgradeQuestion = {
  readonly language: Language;
  readonly home: string;
  readonly to: number | null;
} & ({ readonly ask: "planUpgrade" } | { readonly ask: "upgrade" } | { readonly ask: "goBack" });

type StandbyQuestion = { readonly language: Language; readonly home: string } & (
  | { readonly ask: "follow"; readonly directory: string; readonly passphraseFile: string | null }
  | { readonly ask: "standby" }
  | { readonly ask: "promote"; readonly configFile: string | null }
);

export type Question = UpgradeQuestion | StandbyQuestion | BackupQuestion;

type BackupQuestion = Where &
  (
    | { readonly ask: "list" }
    | { readonly ask: "show" | "verify"; readonly backup: string | null }
    | { readonly ask: "drill"; readonly home: string; readonly quietly?: boolean }
    | ({ readonly ask: "planRestore" | "restore" } & Omit<RestoreRequest, "postgres">)
  );

interface Asking {
  readonly say: (step: string) => void;
  readonly signal: AbortSignal;
}

export async function answer(question: Question, asking: Asking): Promise<unknown> {
  if (question.ask === "planUpgrade" || question.ask === "upgrade" || question.ask === "goBack")
    return await answerUpgrade(question, asking);
  if (question.ask === "standby") return await standbyStatus(question.home);
  if (question.ask === "follow" || question.ask === "promote") {
    const deps = await restoreDeps(asking);
    const postgres = postgresConfig();
    if (question.ask === "promote") return await promote({ ...question, postgres }, deps);
    return await follow({ ...question, postgres }, { ...deps, text: textOf(question.language) });
  }
  if (question.ask === "planRestore" || question.ask === "restore") {
    const request = { ...question, postgres: postgresConfig() };
    const deps = await restoreDeps(asking);
    return question.ask === "restore" ? await restore(request, deps) : (await planRestore(request, deps)).plan;
  }
  if (question.ask === "drill") {
    if (question.quietly) setPriority(10);
    else {
      // Asked for by hand: with nothing to prove yet, or the wrong key, nothing has failed.
      const { path, backups } = await openPlace(question.directory, await readPassphrase(question.passphraseFile));
      if ((await backups()).length === 0)
        throw new Refusal("backup.noneYet", ({ refused }) => refused.backup.noneYet(path));
    }
    return await drill({ ...question, postgres: postgresConfig() }, await restoreDeps(asking));
  }
  const place = await openPlace(question.directory, await readPassphrase(question.passphraseFile));
  const backups = await place.backups();
  if (question.ask === "list") {
    const unreadable = await place.unreadable();
    return { directory: place.path, backups: backups.map(summary), unreadable, logUntil: await place.logUntil() };
  }
  const { backup: id } = question;
  const wanted = id === null ? backups.slice(-1) : backups.filter((one) => one.id === id);
  if (wanted.length === 0)
    throw id === null
      ? new Refusal("backup.noneYet", ({ refused }) => refused.backup.noneYet(place.path))
      : new Refusal("backup.unknownBackup", ({ refused }) => refused.backup.unknownBackup(id));
  if (question.ask === "show") return wanted[0];
  for (const backup of wanted) {
    asking.say(backup.id);
    await verifyBackup(place, backup, asking.signal);
    await verifyUploads(place, backup, asking.signal);
  }
  const [unreadable] = id === null ? await place.unreadable() : [];
  if (unreadable !== undefined) {
    const file = place.file("base", unreadable, MANIFEST);
    throw new Refusal("backup.damaged", ({ refused }) => refused.backup.damaged(file));
  }
  return { verified: wanted.map((one) => one.id) };
}

async function answerUpgrade(question: UpgradeQuestion, asking: Asking): Promise<unknown> {
  const { postgres, database } = configOfHere();
  if (database !== null) throw new Refusal("upgrade.external", ({ refused }) => refused.upgrade.external());
  const deps = { clock: systemClock, random: systemRandom, path: process.env.PATH ?? "", ...asking };
  if (question.ask === "goBack") return await goBack(question, deps);
  const request = { ...question, postgres };
  return question.ask === "upgrade" ? await upgrade(request, deps) : (await planUpgrade(request, deps)).plan;
}

async function restoreDeps(asking: Asking) {
  const files = await readMigrations(join(CODE_ROOT, "migrations"));
  const migrations = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  return { clock: systemClock, random: systemRandom, path: process.env.PATH ?? "", migrations, ...asking };
}

/** Of the PostgreSQL a restore replays with, only the programs are anybody's choice. */
function postgresConfig() {
  return { maxConnections: 100, settings: {}, binaries: configOfHere().postgres.binaries };
}

function configOfHere() {
  const where = { env: process.env, cwd: process.cwd() };
  const file = locateConfigFile(null, where.env, where.cwd)?.file ?? null;
  const absent = file !== null && !existsSync(file) ? { source: null } : {};
  return loadConfig({ ...where, userProblem: () => null, ...absent });
}

function summary({ id, startedAt, endedAt, version, files, counts, postgres }: BackupManifest) {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { id, startedAt, endedAt, version, bytes, counts, postgresMajor: postgres.major };
}
