// Everything about releases, put together: staging, the course of updates, the ledger.
// Invariant: what it touches of the rest of owld goes through `world`: code, holds and targets, never processes.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config, ServiceConfig } from "../../config/config.ts";
import type { PreflightLine, Rollout, RolloutRequest, Status, WorkerStatus } from "../../config/control-api.ts";
import { asError, invariant, OwlError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import { CODE_ROOT } from "../../config/load.ts";
import type { Clock, Random } from "../../config/time.ts";
import type { Manifest } from "../core/manifest.ts";
import { Refusal } from "../core/text/refusal.ts";
import type { Sentence, Text } from "../core/text/text.ts";
import type { ReleaseRef, UpdateCourse } from "../core/update-course.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { ServiceWishes } from "../instances/wishes.ts";
import type { Measures } from "../observe/measures.ts";
import type { DatabaseService, ProxySet } from "../ports.ts";
import { createInstanceLogs } from "../process/log-file.ts";
import { checkRelease } from "../release/check.ts";
import { createReleaseLedger, pruneReleases, switchCurrent } from "../release/current.ts";
import { removeRelease, removeStagingLeftovers, stageRelease } from "../release/stage.ts";
import { readManifest } from "../release/verify.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { Planner } from "../rollouts/planner.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Store } from "../state/store.ts";
import { createNewerJobs } from "./newer-jobs.ts";
import { type Board, createBoard } from "./offers.ts";
import { createUpdates, type Updates } from "./request.ts";
import { createUpdateRunner } from "./runner.ts";
import { askThroughProxy } from "./smoke.ts";
import { createUpdateSteps } from "./steps.ts";
import { beginTrial, endTrial, knowsTrial, readTrial } from "./trial.ts";

export interface ReleaseParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly store: Store;
  readonly journal: Journal;
  readonly rollouts: RolloutRunner;
  readonly planner: Planner;
  readonly book: InstanceBook;
  readonly wishes: ServiceWishes;
  readonly measures: Measures;
  readonly database: DatabaseService;
  readonly paths: HomePaths;
  /** Said in `status`. */
  readonly warnings: Map<string, Sentence>;
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly config: () => Config;
  readonly workers: () => readonly WorkerStatus[] | null;
  readonly preflight: () => Promise<readonly PreflightLine[]>;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly status: () => Promise<Status>;
  readonly restart: (request: RolloutRequest, askedBy: string) => Promise<Rollout>;
  /** Throws while another rollout runs, owld stops or nothing can be put on record. */
  readonly refuse: () => void;
  /** The services are to run from that code from now on. */
  readonly useCode: (release: ReleaseRef) => void;
  readonly proxies: Pick<ProxySet, "processes" | "renew">;
  readonly wake: () => void;
  readonly reexec: () => void;
}

export interface Releases {
  readonly updates: Updates;
  /** What of a service's number the update lets stand: true when it is to have no instance now. */
  rests(service: ServiceConfig): boolean;
  closed(): { readonly retryAfterS: number; readonly reason: string } | null;
  /** The release new instances are started from. */
  serving(): ReleaseRef;
  /** An update is on record: it alone deals with the database's schema. */
  underWay(): boolean;
  /** Once the database is up: goes on with an update that was cut, watches for approvals. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const DATABASE_MS = 60_000;
const RETRY_AFTER_S = 10;

export function createReleases(parts: ReleaseParts): Releases {
  const { clock, store, log, paths, database, book } = parts;
  const recorded = parts.record.recorded.update;
  const ledger = createReleaseLedger(store);
  const running: ReleaseRef = { version: parts.version, path: CODE_ROOT };
  let board: Board | null = null;
  let renewing: Promise<void> = Promise.resolve();

  const stage = async (source: string, signal: AbortSignal) => {
    const staged = await stageRelease(source, paths.releases, parts.random.token(6), signal);
    return { version: staged.manifest.version, path: staged.path, already: staged.already };
  };
  const manifestOf = async (release: ReleaseRef): Promise<Manifest | null> =>
    await readManifest(release.path).catch(() => null);

  async function schemaOf(release: ReleaseRef) {
    const manifest = await manifestOf(release);
    if (manifest !== null)
      return { migrations: manifest.migrations.map(({ name }) => name), queueSchema: manifest.queueSchema };
    const migrations = (await readdir(join(release.path, "migrations"))).filter((name) => name.endsWith(".sql"));
    const library = await readFile(join(release.path, "node_modules/pg-boss/package.json"), "utf8").catch(() => "{}");
    const { pgboss } = JSON.parse(library) as { readonly pgboss?: { readonly schema?: number } };
    return { migrations, queueSchema: pgboss?.schema ?? null };
  }

  async function staged(): Promise<readonly ReleaseRef[]> {
    const names = await readdir(paths.releases).catch(() => [] as string[]);
    return names
      .filter((name) => !name.startsWith("."))
      .map((version) => ({ version, path: join(paths.releases, version) }));
  }

  /** Right after a start the services run already while the database is still being looked at. */
  async function databaseUp(): Promise<void> {
    const untilMs = clock.monotonicMs() + DATABASE_MS;
    while (database.url() === null) {
      if (clock.monotonicMs() > untilMs)
        throw new Refusal("update.database", ({ refused }) => refused.update.noDatabase());
      await clock.sleep(100);
    }
  }

  function figures() {
    const services = parts.config().services.filter((service) => service.bundled);
    const web = services.find((service) => service.routes.length > 0);
    const starts = services.map((service) => parts.measures.of(service.name).startMs ?? 1_000);
    return {
      workers: services.filter((service) => service.routes.length === 0).reduce((sum, one) => sum + one.replicas, 0),
      graceMs: Math.max(0, ...services.map((service) => service.stop.graceMs)),
      readyMs: Math.max(1_000, ...starts),
      webReplicas: web?.replicas ?? 0,
      confirmMs: parts.config().rollout.updateConfirmMs,
    };
  }

  const judged = (release: ReleaseRef, text: Text, signal: AbortSignal) =>
    checkRelease({
      release,
      home: paths.home,
      environment: parts.environment,
      given: {
        file: parts.config().file,
        cwd: process.cwd(),
        databaseUrl: database.url(),
        ownPids: [process.pid, ...parts.proxies.processes().map(({ pid }) => pid)],
        largestInstanceBytes: parts.measures.largestRssBytes(parts.config().services.map(({ name }) => name)),
        language: text.language,
      },
      signal,
    });

  function switchTo({ from, to }: UpdateCourse): void {
    invariant(to !== null, "a release serves before it is current");
    // Taken again it keeps the record: `current` may name the new release already.
    if (running.path === to.path || !knowsTrial(to)) endTrial(paths);
    else if (readTrial(paths)?.to !== realpathSync(to.path)) beginTrial(paths, from, to);
    switchCurrent(paths, to.path);
  }

  /** Taken by the old owld, which makes room, and again by the next one, whichever the launcher started. */
  async function standTrial({ id, from, to }: UpdateCourse, say: (message: string) => void, signal: AbortSignal) {
    invariant(to !== null, "a release serves before its owld is on trial");
    const trial = readTrial(paths);
    if (running.path === to.path || trial === null) return;
    if (trial.starts > 0) {
      switchCurrent(paths, trial.back === "" ? null : trial.back);
      throw new OwlError("update.trial", recorded.trialFailed(to.version, trial.ends.join("; ")));
    }
    if (wokeIn?.id === id && wokeIn.step === "trial") {
      // Started again, but not through `current`: by a checkout, or a path of one's own.
      say(recorded.notThroughCurrent(from.version));
      return;
    }
    say(recorded.trialBegins(to.version));
    parts.reexec();
    // The next owld takes this step again; here it never ends.
    if (!signal.aborted) await once(signal, "abort");
    signal.throwIfAborted();
  }

  function note(course: UpdateCourse): void {
    invariant(course.to !== null, "a release serves before it is on record");
    const before = course.kind === "rollback" ? null : course.from;
    const known = ledger.all().find(({ version }) => version === course.to?.version);
    ledger.add({
      ...course.to,
      finishedAt: clock.now(),
      copy: course.kind === "rollback" ? (known?.copy ?? null) : course.copy,
      before: course.kind === "rollback" ? (known?.before ?? null) : before,
    });
  }

  const runner = createUpdateRunner({
    store,
    journal: parts.journal,
    rollouts: parts.rollouts,
    log,
    record: parts.record,
    confirmMs: () => parts.config().rollout.updateConfirmMs,
    steps: createUpdateSteps({
      clock,
      book,
      rollouts: parts.rollouts,
      planner: parts.planner,
      config: parts.config,
      wanted: parts.wishes.wanted,
      workers: parts.workers,
      preflight: parts.preflight,
      stage,
      checkRelease: (release, signal) => judged(release, parts.record, signal),
      record: parts.record,
      async compare(course) {
        invariant(course.to !== null, "a release is staged before it is compared");
        return await updates.assess(course.to, course.overlapAsked, parts.record);
      },
      manifest: (release) => readManifest(release.path),
      database: () => database.updates(),
      smoke: (signal) => askThroughProxy(parts.config().proxy, signal),
      tail: createInstanceLogs({ directory: paths.logs, clock, living: () => new Set() }).tail,
      switchTo,
      trial: standTrial,
      async prune(course) {
        note(course);
        endTrial(paths);
        const inUse = [course.from.version, ...book.all().map(({ release }) => release)];
        const gone = await pruneReleases(paths, ledger, inUse);
        await keepCopies(course.copy);
        return gone;
      },
    }),
    async discard(course, { isWhole }) {
      endTrial(paths);
      if (!isWhole && course.copy !== null) keepForRescue(course.id, course.copy);
      await keepCopies(null);
      // Half-way something of it may run; past `switch` it is what runs, whatever failed after it.
      if (!isWhole || !course.staged || course.to === null || ledger.current()?.version === course.to.version) return;
      await removeRelease(course.to.path);
    },
    changed() {
      parts.useCode(serving());
      parts.wake();
    },
    renewSelf(course) {
      // Killed after `switch`, it was started again on the new release already.
      if (course.to?.path === running.path) return;
      log.info({ from: course.from.version, to: course.to?.version }, "owld starts again on the new release");
      parts.reexec();
    },
  });

  const rescue = (): readonly string[] => store.all<readonly string[]>("fact").get("copies for rescue") ?? [];

  /** The way back failed: what it should have led to is a person's to use and to remove. */
  function keepForRescue(rollout: string, copy: string): void {
    store.put("fact", "copies for rescue", [...new Set([...rescue(), copy])]);
    const message = parts.record.recorded.update.copyKept(copy);
    parts.journal.write({ type: "update.copyKept", rollout, message });
  }

  /** Copies that the ledger names stay, those for rescue, and that one. */
  async function keepCopies(also: string | null): Promise<void> {
    if (database.url() === null) return;
    const named = [...ledger.all().map(({ copy }) => copy), ...rescue(), also];
    await database.updates().keepCopies(named.filter((path) => path !== null));
  }

  /** The course this owld found when it started. */
  const wokeIn = runner.course();
  const serving = (): ReleaseRef => runner.serving() ?? running;

  const updates = createUpdates({
    clock,
    runner,
    running,
    bundled: parts.config().bundled,
    managed: parts.config().database === null,
    preflight: judged,
    newerJobs: (formats) => database.updates().newerJobs(formats),
    refuse: parts.refuse,
    stage,
    unstage: ({ path }) => removeRelease(path),
    manifest: manifestOf,
    schemaOf,
    staged,
    ledger: ledger.all,
    async databaseFacts() {
      await databaseUp();
      return await database.updates().facts();
    },
    async writesSince(copy) {
      await databaseUp();
      return await database.updates().writesSince(copy);
    },
    figures,
  });

  const newerJobs = createNewerJobs({
    clock,
    warnings: parts.warnings,
    async count() {
      const formats = (await manifestOf(serving()))?.jobKinds ?? null;
      return formats === null || database.url() === null ? null : await database.updates().newerJobs(formats);
    },
    // The metastore's own watch says that it is away.
    failed: (error) => log.debug({ err: asError(error) }, "jobs of a newer format were not counted"),
  });

  /** After an update whose proxy code differs, the proxies are replaced by those of the new release, without loss. */
  async function renewProxies(): Promise<void> {
    const present = proxyCode(await manifestOf(running));
    const before = store.all<string>("fact").get("proxy code");
    if (before === present) return;
    if (before !== undefined || ledger.current()?.version === parts.version) {
      const message = parts.record.recorded.update.proxyRenewed;
      parts.journal.write({ type: "proxy.renewing", service: "proxy", message });
      parts.proxies.renew(message);
    }
    store.put("fact", "proxy code", present);
  }

  return {
    updates,
    rests(service) {
      if (!service.bundled) return false;
      const { workers, web } = runner.holds();
      return service.routes.length > 0 ? web : workers;
    },
    closed() {
      const reason = runner.closed();
      return reason === null ? null : { retryAfterS: RETRY_AFTER_S, reason };
    },
    serving,
    underWay: () => runner.course() !== null,
    async start() {
      // Space lost, no more: nothing that runs may end for it.
      const left = await removeStagingLeftovers(paths.releases).catch((error: unknown) => {
        log.error({ err: asError(error) }, "half-staged releases were not removed");
        return [];
      });
      if (left.length > 0) log.info({ left }, "half-staged releases were removed");
      runner.resume();
      renewing = renewProxies().catch((error: unknown) =>
        log.error({ err: asError(error) }, "the proxies were not replaced"),
      );
      const url = database.url();
      if (url === null || !parts.config().bundled) return;
      board = createBoard({ ...parts, url, updates, staged, manifest: manifestOf, stage });
      await board.start();
      newerJobs.start();
    },
    async stop() {
      await newerJobs.stop();
      await runner.stop();
      await renewing;
      await board?.stop();
    },
  };
}

/** What the proxy's code is: a hash over its files; of code without a manifest only that it has none. */
function proxyCode(manifest: Manifest | null): string {
  if (manifest === null) return "no manifest";
  const code = createHash("sha256");
  for (const [path, file] of Object.entries(manifest.files))
    if (/^(supervisor\/proxy|config|node_modules\/(undici|node-linux-[^/]+))\//.test(path))
      code.update(`${path} ${file.sha256}\n`);
  return code.digest("hex");
}
