// The adapters the supervisor's loop and runners see: small interfaces named after what they do, types only.
// main.ts alone builds the real ones; test/support has working small ones.

import type { Config, HealthCheck, JobKind, ProxyConfig } from "../config/config.ts";
import type { LogLine, PreflightLine, Rollout, Status, WorkerStatus } from "../config/control-api.ts";
import type { Challenge, ProxyCounters, RoutingTable } from "../config/proxy-feed.ts";
import type { MonotonicMs, WallMs } from "../config/time.ts";
import type { Text } from "./core/text/text.ts";
import type { DatabaseWear } from "./core/wear.ts";

/** Who a process is: a recycled pid has another start time, another boot another id. Compared whole, always. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat, in clock ticks since boot, as text (compared, never computed with). */
  readonly startTicks: string;
  readonly bootId: string;
}

export type ExitReport =
  | { readonly known: true; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly known: false };

export interface SpawnRequest {
  readonly instance: string;
  readonly service: string;
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment: nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly user: string | null;
  readonly umask: number | null;
  readonly logFile: string;
  /** FIFO whose write end the child inherits: its end of file is the exit, also for a later owld. */
  readonly exitFifo: string;
  /** Files only its user can read, made new before it starts. */
  readonly secrets?: { readonly directory: string; readonly values: Readonly<Record<string, string>> };
  /** A text for descriptor 4 of the child, in a file without a name; then it is given no `descriptors`. */
  readonly handed?: string;
  /** Extra descriptors handed on (the proxy's listeners), from 4 upwards (3 is the FIFO). */
  readonly descriptors?: readonly number[];
}

export interface RunningProcess {
  readonly identity: ProcessIdentity;
  /** Resolves once, when the leader is gone; never rejects. */
  readonly exited: Promise<ExitReport>;
  /** Something suggests that it is gone: look now, not at the next poll (adopted processes). */
  look?(): void;
  /** Lets go without touching the process (owld ends, the process lives on). */
  release(): void;
}

export interface Spawner {
  /** Starts a process group leader. Rejects with OwlError `spawn.failed` (command not found, no memory, ...). */
  spawn(request: SpawnRequest): Promise<RunningProcess>;
  /** Watches a process of an earlier owld; null when that very process is gone. */
  adopt(identity: ProcessIdentity, exitFifo: string): RunningProcess | null;
}

/** A program that runs once. */
interface OneOffRequest {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string | null;
  readonly limitMs: number;
  /** What it says, as it comes; a promise makes it wait. */
  readonly said: (stream: "stdout" | "stderr", chunk: Uint8Array) => Promise<void> | undefined;
}

export interface OneOffEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it was ended, unless by itself. */
  readonly cause: "aborted" | "late" | null;
}

/** Resolves when it and all it started are gone. Rejects with `spawn.failed`. */
export type OneOff = (request: OneOffRequest, signal: AbortSignal) => Promise<OneOffEnd>;

export interface MarkedProcess {
  readonly identity: ProcessIdentity;
  readonly instance: string;
  readonly service: string;
  readonly release: string;
  /** True for a process whose pid is its process group's id. */
  readonly leader: boolean;
  readonly command: string;
}

/** Whether the kernel killed a process of this machine for want of memory. */
export interface OomKills {
  /** Looks at its counter; called steadily, so that a rise has its time. */
  look(): void;
  /** Within the last seconds; true also where the counter cannot be read: then it may have been so. */
  lately(): boolean;
}

export interface ProcessTable {
  /** The identity of `pid` now, or null when there is none or it is a zombie. */
  identify(pid: number): ProcessIdentity | null;
  isAlive(identity: ProcessIdentity): boolean;
  /** Re-reads the identity, then signals the leader only. */
  signalLeader(identity: ProcessIdentity, signal: NodeJS.Signals): "sent" | "gone";
  /** SIGKILL to the whole group. `leader` null: it is known gone, the group is what is left of it. */
  killGroup(identity: ProcessIdentity): "sent" | "gone";
  /** Living, non-zombie members of the group the identity leads (led). */
  groupMembers(identity: ProcessIdentity): readonly { readonly pid: number; readonly command: string }[];
  /** The same of each of these, /proc read once for all. */
  groups(
    identities: readonly ProcessIdentity[],
  ): readonly (readonly { readonly pid: number; readonly command: string }[])[];
  /** Every process carrying OWL_MARK=`mark` in its environment. */
  marked(mark: string): readonly MarkedProcess[];
}

export interface Usage {
  readonly rssBytes: number;
  /** Share of one core since the last sample, 0 at the first. */
  readonly cpu: number;
}

export interface UsageSampler {
  /** Reads /proc for the group of each identity. */
  sample(identities: readonly ProcessIdentity[]): Promise<ReadonlyMap<number, Usage>>;
  /** Free memory of the host in bytes (available), and total. */
  hostMemory(): Promise<{ readonly availableBytes: number; readonly totalBytes: number }>;
}

export interface ProbeTarget {
  readonly instance: string;
  readonly target: { readonly socket: string } | { readonly host: string; readonly port: number } | null;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Whom a command check runs as; absent or null: owld's own user. */
  readonly user?: string | null;
}

export interface ProbeResult {
  readonly ok: boolean;
  readonly status: number | null;
  /** First 500 characters of the body, or of a command's output. */
  readonly body: string;
  readonly error: string | null;
  readonly elapsedMs: number;
}

export interface HealthProbe {
  /** One check; never rejects. `uptime` checks are the loop's own business and not asked here. */
  check(target: ProbeTarget, check: HealthCheck, timeoutMs: number, signal: AbortSignal): Promise<ProbeResult>;
}

/** All proxy processes as one: fed, asked, counted. They live by the loop, like every instance. */
export interface ProxySet {
  /** Sends the table to all; resolves when every living proxy process acknowledged this or a later version. */
  publish(table: RoutingTable): Promise<void>;
  /** What a certificate authority asks for from now on; resolves when every living process would answer so. */
  challenge(challenges: readonly Challenge[]): Promise<void>;
  /** Resolves when that upstream has no request in flight in any proxy process (streams and tunnels not counted), or aborted. */
  idle(upstream: string, signal: AbortSignal): Promise<void>;
  /** Ends its event streams and tunnels, spread over some seconds. */
  moveStreams(upstream: string): void;
  /** Resolves when every reachable process has told its counters anew; rejects when aborted. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Counters summed over all processes, as told last (every second, or by `refresh`). */
  counters(): ProxyCounters;
  /** As told last by each process, those that went lately too; null: it has not told yet. */
  tallies(): ReadonlyMap<string, ProxyCounters | null>;
  processes(): readonly { readonly id: string; readonly pid: number; readonly state: string }[];
  listening(): readonly string[];
  /** How many there should be by `proxy`, and the hash of what they then run by. */
  wanted(proxy: ProxyConfig): { readonly processes: number; readonly configHash: string };
  /** Why none runs by the configuration of now, as it was found at the last try; null: nothing is in the way. */
  trouble(): Error | null;
  /** Tries at once what waits for its next try. Resolves when all run by the configuration of now; else rejects. */
  settled(): Promise<void>;
  /** Every process is replaced by its successor without losing a connection, however often owld is killed meanwhile. */
  renew(cause: string): void;
  /** The orderly end begins: new clients are refused from now on. */
  closeDoor(): Promise<void>;
  /** owld goes, proxies stay. */
  letGo(): Promise<void>;
}

/** What the application's tables tell of its work, for metrics. */
export interface WorkFigures {
  readonly queued: Readonly<Partial<Record<JobKind, number>>>;
  readonly oldestQueuedS: Readonly<Partial<Record<JobKind, number>>>;
  /** Since owld started. */
  readonly turns: readonly { readonly outcome: string; readonly cause: string; readonly count: number }[];
  readonly reclaimed: number;
}

/** What workers did with their jobs in all their life. */
export interface JobCounts {
  readonly finished: number;
  readonly handedBack: number;
  readonly cut: number;
  /** Taken back from them after they were lost. */
  readonly reclaimed: number;
}

/** The metastore as owld needs it; every call is best effort and bounded (2 s), for owld needs no database to run. */
export interface Metastore {
  /** null when the database does not answer. */
  connections(): Promise<{
    readonly limit: number;
    readonly maxConnections: number;
    readonly open: number;
    /** The most ever counted open since owld asks. */
    readonly peak: number;
    readonly byApplication: Readonly<Record<string, number>>;
  } | null>;
  /** Those at work; one that was marked gone only while it is among `living`: its process is still there. */
  workers(living: readonly string[]): Promise<readonly WorkerStatus[] | null>;
  /** null when the database does not answer. */
  wear?(): Promise<DatabaseWear | null>;
  /** null when the database does not answer or holds no bundled application. */
  work?(): Promise<WorkFigures | null>;
  /** Summed over these workers, gone ones too; null as with `work`. */
  jobCounts?(workers: readonly string[]): Promise<JobCounts | null>;
  /** Sets `gone_at` of that worker and notifies the reclaimer; false: that happens as soon as the database answers. */
  markGone(worker: string): Promise<boolean>;
  /** Since when (monotonic) the database answers without a break; null while it does not. */
  answeringSince(): MonotonicMs | null;
}

/** PostgreSQL, migrations and the one-shot prepare step: what must be there before the services start. */
export interface DatabaseService {
  /** Brings up (or adopts) the managed server, or checks the external one; migrates; runs prepare. Progress by `say`. */
  start(say: (message: string) => void, signal: AbortSignal): Promise<void>;
  /** Metastore URL with its secret, once started. */
  url(): string | null;
  /** Of a managed server, as its administrator, once started. */
  adminUrl(): string | null;
  metastore(): Metastore | null;
  /** Managed: SIGINT (fast), then SIGQUIT. External: nothing. */
  stop(): Promise<void>;
  letGo(): void;
  /** Its part in updates; to be used once it is up. */
  updates(): UpdateDatabase;
  /** For `status`: pid and state of a managed server. */
  process(): { readonly pid: number; readonly state: string; readonly startedAt: WallMs } | null;
}

export interface Preflight {
  /** Everything, in that language; without one in the installation's. */
  run(text?: Text): Promise<readonly PreflightLine[]>;
  /**
   * What bears on replacing processes by this configuration, within 1.5 s: no endpoints, nothing an update alone needs.
   * A silent database is a WARN here, for owld needs none to restart things. Read once, said in any language.
   */
  quick(config: Config): Promise<(text: Text) => readonly PreflightLine[]>;
}

export interface InstanceLogs {
  /** The last `lines` lines of that instance's log, across rotation. */
  tail(instance: string, lines: number): Promise<readonly string[]>;
  /**
   * Lines of these instances, oldest first; with `follow` it goes on until the signal aborts. `sinceMs`: lines of the
   * last so many milliseconds, as far as it is known. `moreInstances` is asked again while following (a rollout's new ones).
   */
  read(
    query: {
      readonly instances: readonly string[];
      readonly moreInstances?: () => readonly string[];
      readonly lines: number | null;
      readonly sinceMs: number | null;
      readonly follow: boolean;
      /** With `follow`: a line `isMark` comes between past and new lines. */
      readonly mark: boolean;
    },
    signal: AbortSignal,
  ): AsyncIterable<LogLine>;
  /** Copy-and-truncate of every log over its size, and a note of how far each had come by now: call it every 10 s. */
  rotate(): Promise<void>;
  /** Cuts those that grow too fast for that; cheap. */
  bound(): void;
}

export interface WaitingApproval {
  readonly id: string;
  readonly kind: "update" | "restart" | "rollback";
  readonly version: string | null;
  readonly services: readonly string[] | null;
  readonly by: string;
  readonly state: "waiting" | "running";
  readonly rollout: string | null;
}

/** An administrator wants that rollout to end after its current step. */
export interface WaitingCancel {
  readonly id: string;
  readonly rollout: string;
  readonly by: string;
}

export interface PostedOffer {
  readonly version: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly plan: Readonly<Record<string, unknown>>;
  readonly notes: string;
}

/** A release that ran here, and what going back to it would cost. */
export interface PostedRollback {
  readonly version: string;
  readonly plan: Readonly<Record<string, unknown>>;
}

/** The rows between owld and the pages. */
export interface Bulletin {
  postStatus(status: Status): Promise<void>;
  /** Replaces the list of offered releases. */
  postOffers(offers: readonly PostedOffer[]): Promise<void>;
  /** Replaces the list of past rollouts. */
  postRollouts(rollouts: readonly Rollout[]): Promise<void>;
  /** Replaces the list of releases to go back to. */
  postRollbacks(rollbacks: readonly PostedRollback[]): Promise<void>;
  /** The oldest one that waits, or null. */
  openCancel(): Promise<WaitingCancel | null>;
  noteCancel(id: string, state: "done" | "refused", message: string | null): Promise<void>;
  /** The approval that waits or runs, or null. */
  openApproval(): Promise<WaitingApproval | null>;
  noteApproval(
    id: string,
    change: { readonly state: string; readonly rollout: Rollout | null; readonly message: string | null },
  ): Promise<void>;
  stop(): Promise<void>;
}

export interface UpdateDatabaseFacts {
  /** Names of applied migrations with their content's hashes. */
  readonly applied: Readonly<Record<string, string>>;
  readonly compatible: Readonly<Record<string, boolean>>;
  /** pg-boss's schema number, null when it is not installed. */
  readonly queueSchema: number | null;
  readonly bytes: number;
}

export interface WritesSince {
  readonly count: number;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
}

/** The database's part in updates; every call may be repeated after a kill in its middle. */
export interface UpdateDatabase {
  facts(): Promise<UpdateDatabaseFacts>;
  /** Migrations and prepare step of the release at `codeRoot`. Throws `migrate.failed` or `prepare.failed`. */
  migrate(codeRoot: string, say: (message: string) => void, signal: AbortSignal): Promise<void>;
  /** The prepare step alone: what a release needs of queues is there before any process of it starts. */
  prepare(codeRoot: string, say: (message: string) => void, signal: AbortSignal): Promise<void>;
  /** Takes the copy `name` (managed: the server is stopped for it and started again); answers where it lies. */
  copy(name: string, say: (message: string) => void, signal: AbortSignal): Promise<string>;
  /** Puts that copy in place; jobs in it are ended or requeued by the release at `codeRoot` before this resolves. */
  restore(path: string, codeRoot: string, say: (message: string) => void, signal: AbortSignal): Promise<void>;
  /** Waiting jobs whose format is higher than the given one of their kind: code of those formats leaves them in line. */
  newerJobs(formats: Readonly<Partial<Record<JobKind, { readonly format: number }>>>): Promise<number>;
  /** Rows written after the copy at `path` was taken: what a restore loses. */
  writesSince(path: string): Promise<WritesSince>;
  /** Removes every copy but those at `paths`, unfinished ones too. */
  keepCopies(paths: readonly string[]): Promise<void>;
}

/** A release that has served here. */
export interface PastRelease {
  readonly version: string;
  readonly path: string;
  readonly finishedAt: WallMs;
  /** The copy of the database taken before this release's incompatible migrations, or null. */
  readonly copy: string | null;
  /** The release that ran before it. */
  readonly before: { readonly version: string; readonly path: string } | null;
}
