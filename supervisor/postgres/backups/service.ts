// Backups as owld has them: one program beside it while backup.directory is named, what that tells kept for status,
// events and metrics, and a drill when one is due. Invariant: nothing of it stops or delays anything that runs.

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Config } from "../../../config/config.ts";
import type { BackupStatus } from "../../../config/control-api.ts";
import { inheritedEnv } from "../../../config/instance-env.ts";
import { CODE_ROOT } from "../../../config/load.ts";
import { systemRandom } from "../../../config/system-time.ts";
import { Refusal } from "../../core/text/refusal.ts";
import type { DatabaseService } from "../../ports.ts";
import { keepFact, readFact } from "../../state/facts.ts";
import type { Foundation } from "../../state/foundation.ts";
import { createDrills } from "./drills.ts";
import { BACKUP_ENV, type BackupReport, type BackupTask, backupProgram, NOW } from "./report.ts";
import { dropSlot } from "./slot.ts";
import { createBackupStanding } from "./standing.ts";

const END_MS = 10_000;
const AGAIN_MS = 5_000;
/** Counted in `rewound`. */
const EPOCH = "database epoch";

interface BackupsParts {
  readonly ground: Foundation;
  readonly config: () => Config;
  readonly database: Pick<DatabaseService, "url" | "adminUrl">;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
}

export interface Backups {
  /** Once the database is up, and after each change of the configuration: what is wanted of it runs. */
  settle(): void;
  /** Throws `backup.off`, `backup.notNow`. */
  now(): void;
  /** null: none are made. */
  status(): BackupStatus | null;
  space(): { readonly path: string; readonly freeBytes: number } | null;
  /** Resolves with why when a standby was promoted in this home's place. */
  readonly replaced: Promise<Refusal>;
  stop(): Promise<void>;
}

/** An older database was put in place: its log goes on along another line. Before it is started. */
export function noteRewound({ store }: Pick<Foundation, "store">): void {
  store.next(EPOCH);
}

export function createBackups(parts: BackupsParts): Backups {
  const { ground, database } = parts;
  const { store, clock, log, warnings } = ground;
  let child: ChildProcess | null = null;
  let runningFor = "";
  let stopping = false;
  const ended = new AbortController();
  const replaced = Promise.withResolvers<Refusal>();
  const standing = createBackupStanding({
    ...parts,
    replaced() {
      const path = parts.config().backup?.directory ?? "";
      replaced.resolve(new Refusal("backup.replaced", ({ refused }) => refused.backup.replaced(path)));
    },
  });
  const drills = createDrills({
    ...parts,
    mayRun: () => child !== null && !standing.isRunning(),
    signal: ended.signal,
  });

  function wantedTask(): BackupTask | null {
    const { backup, home, file } = parts.config();
    const [url, adminUrl] = [database.url(), database.adminUrl()];
    if (backup === null || url === null || adminUrl === null) return null;
    const installation = readFact(store, "installation") ?? systemRandom.uuid();
    keepFact(store, "installation", installation);
    const known = readFact(store, "backup directory");
    const place =
      known?.directory === backup.directory
        ? known
        : { directory: backup.directory, holder: systemRandom.uuid(), held: false };
    keepFact(store, "backup directory", place);
    const { holder, held, generation = 0 } = place;
    const epoch = store.given(EPOCH);
    return {
      backup,
      home,
      configFile: file,
      adminUrl,
      url,
      installation,
      holder,
      held,
      generation,
      epoch,
      version: parts.version,
    };
  }

  function begin(task: BackupTask): void {
    const [command, ...args] = backupProgram("serve");
    const made = spawn(command, args, {
      cwd: CODE_ROOT,
      env: { ...inheritedEnv(parts.environment), [BACKUP_ENV]: JSON.stringify(task) },
      stdio: ["pipe", "pipe", "pipe"],
    });
    child = made;
    made.on("error", (error) => log.error({ err: error }, "the backup program did not start"));
    made.stdin?.on("error", () => undefined);
    if (made.stdout)
      createInterface({ input: made.stdout }).on("line", (line) => standing.hear(JSON.parse(line) as BackupReport));
    if (made.stderr)
      createInterface({ input: made.stderr }).on("line", (line) => log.warn({ line }, "the backup program says"));
    made.once("close", (code, signal) => {
      if (child === made) child = null;
      standing.ended();
      if (stopping || runningFor === "") return;
      log.error({ code, signal }, "the backup program ended and is started again");
      runningFor = "";
      clock.after(AGAIN_MS, settle, { unref: true });
    });
  }

  function leaveNoSlot(): void {
    const adminUrl = database.adminUrl();
    if (adminUrl !== null) dropSlot(adminUrl).catch(ground.warned("the backup slot was not dropped"));
  }

  function settle(): void {
    if (stopping) return;
    drills.start();
    const { backup, usesDatabase, database: external } = parts.config();
    warnings.delete("backup external");
    if (backup !== null && usesDatabase && external !== null)
      warnings.set("backup external", ({ refused }) => {
        const { sentence, next } = refused.backup.external();
        return `${sentence} ${next}`;
      });
    if (backup === null && child === null) leaveNoSlot();
    const task = wantedTask();
    const wanted = task === null ? "" : JSON.stringify({ ...task, held: true, generation: 0 });
    if (wanted === runningFor) return;
    runningFor = wanted;
    if (child !== null) {
      const before = child;
      before.once("close", () => {
        if (stopping || runningFor !== wanted) return;
        if (task !== null) begin(task);
        else if (parts.config().backup === null) leaveNoSlot();
      });
      before.stdin?.end();
    } else if (task !== null) begin(task);
  }

  return {
    settle,
    now() {
      if (parts.config().backup === null) throw new Refusal("backup.off", ({ refused }) => refused.backup.off());
      if (child === null) throw new Refusal("backup.notNow", ({ refused }) => refused.backup.notNow());
      standing.asked();
      child.stdin?.write(`${NOW}\n`);
    },
    status: standing.status,
    space: standing.space,
    replaced: replaced.promise,
    async stop() {
      stopping = true;
      ended.abort();
      await drills.stopped();
      const ending = child;
      if (ending === null) return;
      const gone = new Promise<void>((resolve) => ending.once("close", () => resolve()));
      ending.stdin?.end();
      const cancel = clock.after(END_MS, () => ending.kill("SIGKILL"), { unref: true });
      await gone;
      cancel();
    },
  };
}
