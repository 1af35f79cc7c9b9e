// What owld serves on its control socket and owlctl reads. Names are fixed by interface.md: add, never rename.
// Everything is JSON; streams are one object a line (application/x-ndjson).

import type { CertificateStatus } from "./certificate-status.ts";
import type { JobKind } from "./config.ts";

export const INSTANCE_STATES = ["starting", "ready", "unhealthy", "draining", "stopping", "backoff", "exited"] as const;
export type InstanceState = (typeof INSTANCE_STATES)[number];

export const SUPERVISOR_STATES = ["starting", "steady", "rolling", "degraded", "stopping"] as const;
export type SupervisorState = (typeof SUPERVISOR_STATES)[number];

export const ROLLOUT_KINDS = ["restart", "update", "rollback", "deploy"] as const;
export type RolloutKind = (typeof ROLLOUT_KINDS)[number];
export const ROLLOUT_STATES = ["running", "succeeded", "failed", "cancelled"] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];

export interface Status {
  readonly version: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly state: SupervisorState;
  readonly release: { readonly version: string; readonly path: string };
  readonly proxy: {
    readonly listen: readonly string[];
    readonly processes: readonly { readonly id: string; readonly pid: number; readonly state: string }[];
    readonly inFlight: number;
    readonly requests: number;
    readonly retries: number;
    readonly failures: number;
    /** null: no TLS. Absent: an older owld. */
    readonly certificate?: CertificateStatus | null;
  };
  readonly services: readonly ServiceStatus[];
  readonly connections: ConnectionsStatus | null;
  readonly workers: readonly WorkerStatus[] | null;
  readonly rollout: Rollout | null;
  /** null: none are made (owl.yaml names no backup.directory). Absent from older ones. */
  readonly backup?: BackupStatus | null;
  /** Of the home and of backups. Absent from older ones. */
  readonly disks?: readonly DiskStatus[];
  /** Sentences a person must know (disk full, state file set aside, strangers found, ...). */
  readonly warnings: readonly string[];
}

export interface DiskStatus {
  readonly path: string;
  readonly freeBytes: number;
  /** As it has gone lately; null: not in sight. */
  readonly fullInDays: number | null;
}

export interface BackupStatus {
  readonly directory: string;
  /** One is being taken. */
  readonly running: boolean;
  readonly last: {
    readonly id: string;
    readonly at: string;
    readonly bytes: number;
    readonly elapsedMs: number;
  } | null;
  /** The database's log: when some of it reached the directory last, and how long its oldest byte had waited. */
  readonly log: { readonly at: string; readonly lagMs: number } | null;
  /** null: none has ever followed. `at`: when it last had all of the directory; null: not heard since owld started. */
  readonly standby?: { readonly at: string | null } | null;
  readonly drill: DrillStatus | null;
  /** What is in the way, in the installation's language. */
  readonly problem: string | null;
}

/** The last restore that was tried out. */
export interface DrillStatus {
  readonly backup: string;
  readonly at: string;
  readonly passed: boolean;
  /** How long what was written just before took to be in the directory. */
  readonly rpoMs: number | null;
  /** From nothing to a signed-in page. */
  readonly rtoMs: number | null;
  readonly reason: string | null;
}

export interface ServiceStatus {
  readonly name: string;
  readonly replicas: number;
  readonly ready: number;
  readonly wanted: "up" | "down";
  readonly crashLooping: boolean;
  /** owl.yaml's number, when `owlctl scale` asked for another one. Absent from older ones, and when nobody did. */
  readonly scaledFrom?: number;
  /** Crashes in the places of its instances. Absent from older ones. */
  readonly restarts?: number;
  /** The release of a team's own code that is in force for it. Absent: it was never deployed. */
  readonly release?: string;
  readonly instances: readonly InstanceStatus[];
  /** Of one that runs by its schedule instead of always. */
  readonly schedule?: ScheduleStatus;
}

export interface ScheduleStatus {
  readonly cron: string;
  readonly zone: string;
  /** null: never, or its service is stopped. */
  readonly nextAt: string | null;
  readonly running: { readonly id: string; readonly pid: number | null; readonly startedAt: string } | null;
  readonly last: {
    readonly id: string;
    readonly startedAt: string;
    readonly endedAt: string;
    /** lost: it ended while no owld looked. */
    readonly outcome: "succeeded" | "failed" | "lost";
    readonly how: string;
  } | null;
}

export interface InstanceStatus {
  readonly id: string;
  readonly pid: number | null;
  readonly state: InstanceState;
  readonly release: string;
  readonly startedAt: string | null;
  readonly restarts: number;
  readonly inFlight: number;
  readonly rssBytes: number;
  /** Share of one core over the last sample, 0..n. */
  readonly cpu: number;
  readonly lastExit: LastExit | null;
}

export type LastExit =
  | {
      readonly known: true;
      readonly code: number | null;
      readonly signal: string | null;
      readonly at: string;
      readonly outOfMemory: "no" | "likely";
    }
  | { readonly known: false; readonly at: string };

export interface ConnectionsStatus {
  readonly limit: number;
  readonly maxConnections: number;
  readonly steady: number;
  readonly surge: number;
  readonly open: number;
  readonly peak: number;
  readonly verdict: "ok" | "warn" | "fail";
  /** Open connections by application name; strangers are those not ours. */
  readonly byApplication?: Readonly<Record<string, number>>;
}

export interface WorkerStatus {
  readonly id: string;
  readonly state: "active" | "draining" | "stalled";
  readonly heartbeatAgeMs: number;
  readonly jobs: Partial<Record<JobKind, number>>;
}

export interface Rollout {
  readonly id: string;
  readonly kind: RolloutKind;
  readonly state: RolloutState;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly reason: string | null;
  readonly steps: readonly RolloutStep[];
  readonly ledger?: RolloutLedger | null;
  readonly estimate?: { readonly expectedMs: number; readonly worstMs: number } | null;
  /** What was to be said before it started: preflight's warnings, a surge over the connection limit. */
  readonly notes?: readonly string[];
  /** The administrator who asked for it on the page. Absent: an operator on the machine. */
  readonly askedBy?: string;
  /** It was cancelled and ends after its current step. */
  readonly cancelling?: true;
}

export interface RolloutStep {
  readonly n: number;
  readonly service: string;
  readonly action: string;
  readonly instance: string | null;
  readonly state: "waiting" | "running" | "done" | "failed" | "skipped";
  readonly startedAt: string | null;
  readonly elapsedMs: number;
}

/** What a rollout cost, printed at its end and stored. */
export interface RolloutLedger {
  readonly requestsFailed: number;
  readonly retriedAtConnect: number;
  readonly drainedInFlight: number;
  readonly longestDrainMs: number;
  readonly streamsMoved: number;
  /** Jobs of the workers that left in it, over all their life; 0 when the database did not tell. */
  readonly jobsFinished: number;
  readonly jobsHandedBack: number;
  readonly jobsCut: number;
  readonly jobsReclaimed: number;
  /** Not `killed`: that word is an event of the stream, and readers look for it there. */
  readonly instancesKilled: number;
}

/** A line of `owlctl restart --json` and GET /v1/rollouts/:id/events. The last line is a `Rollout` with `rollout: id`. */
export interface RolloutEvent {
  readonly at: string;
  readonly rollout: string;
  readonly service: string;
  readonly instance: string;
  /** `step`: an update's own step (`instance` names it, `message` tells it). */
  readonly event: "starting" | "ready" | "routed" | "draining" | "stopped" | "killed" | "failed" | "step";
  readonly elapsedMs: number;
  readonly message?: string;
}

/** POST /v1/rollouts. `services` empty: all of them. */
export interface RolloutRequest {
  readonly kind: "restart";
  readonly services?: readonly string[];
  readonly all?: boolean;
}

/** POST /v1/updates: an archive or a release directory on owld's machine. */
export interface UpdateRequest extends StageRequest {
  readonly overlap?: boolean;
}

/** POST /v1/releases. `allowUnsigned`: whoever asks vouches for an archive that no key known here has signed. */
export interface StageRequest {
  readonly source: string;
  readonly allowUnsigned?: boolean;
}

/** `signing` — checked: a known key signed it; unknown: no key is known here; allowed: taken without a signature. */
export interface StagedAnswer {
  readonly version: string;
  readonly path: string;
  readonly already: boolean;
  readonly signing: "checked" | "unknown" | "allowed";
}

/** POST /v1/rollouts/plan, and what `--plan` prints. */
export interface RolloutPlan {
  readonly changes: boolean;
  readonly steps: readonly {
    readonly service: string;
    readonly action: string;
    readonly instance: string | null;
    readonly note?: string;
  }[];
  readonly expectedMs: number;
  readonly worstMs: number;
  readonly peakConnections: number | null;
  readonly connectionLimit: number | null;
  readonly peakMemoryBytes: number | null;
  readonly notes: readonly string[];
}

/** A line of GET /v1/events. `type` is `noun.pastTense`: `instance.ready`, `rollout.failed`. */
export interface OwlEvent {
  readonly id: number;
  readonly at: string;
  readonly type: string;
  readonly service: string | null;
  readonly instance: string | null;
  readonly rollout: string | null;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Query of GET /v1/events. Without `after` the last `limit` events come first; `follow=1` goes on. */
export interface EventsQuery {
  readonly follow: boolean;
  /** Only events with a greater id: the way on after a broken stream. */
  readonly afterId: number | null;
  /** How many past events at most (the newest ones); null: all after `afterId`, or 100. */
  readonly limit: number | null;
  readonly service: string | null;
  readonly instance: string | null;
}

/** The last line of a rollout's event stream. */
export type RolloutEnd = Rollout & { readonly rollout: string };

/** GET /v1/rollouts/:id/events, `owlctl restart --json`. */
export type RolloutLine = RolloutEvent | RolloutEnd;

/** POST /v1/scale {"web": 3, "worker": 2}. */
export type ScaleRequest = Readonly<Record<string, number>>;

/** Answer of reload, scale, start and stop: what was decided; the work itself shows in events and status. */
export interface Changed {
  /** Nothing to do when false. */
  readonly changed: boolean;
  /** Sentences: what is done, what is left as it was and why. */
  readonly notes: readonly string[];
  /** The rollout started by it (a reload that replaces instances), or null. */
  readonly rollout: Rollout | null;
  /** Services that were not there before, and how long each must stand to count. Absent: none. */
  readonly added?: { readonly names: readonly string[]; readonly standMs: number };
}

/** Answer of kill: what it cost. */
export interface Killed {
  readonly instance: string;
  readonly notes: readonly string[];
}

/** GET /v1/why/:target: one screen on a service or an instance. */
export interface Why {
  readonly target: string;
  readonly kind: "service" | "instance";
  /** The answer in a sentence or two. */
  readonly summary: readonly string[];
  readonly instances: readonly WhyInstance[];
}

export interface WhyInstance {
  readonly id: string;
  readonly service: string;
  readonly state: InstanceState;
  readonly wanted: "up" | "down";
  readonly pid: number | null;
  readonly startedAt: string | null;
  readonly restarts: number;
  readonly lastExit: LastExit | null;
  readonly lastProbe: {
    readonly at: string;
    readonly ok: boolean;
    readonly status: number | null;
    readonly body: string;
    readonly error: string | null;
  } | null;
  /** null: no worker of the bundled application, or the database does not answer. */
  readonly heartbeatAgeMs: number | null;
  /** While it waits for its next try. */
  readonly backoff: { readonly attempt: number; readonly delayMs: number; readonly nextTryAt: string } | null;
  /** Processes of its group, or carrying its mark, that outlived the leader. */
  readonly leftOver: readonly { readonly pid: number; readonly command: string }[];
  /** Names of environment variables whose value differs from what it would get now. */
  readonly changedEnv: readonly string[];
  /** Last lines of its log. */
  readonly log: readonly string[];
}

/** GET /v1/config: the configuration with every secret as "***". */
export interface ShownConfig {
  readonly file: string | null;
  readonly config: Readonly<Record<string, unknown>>;
}

/** A line of GET /v1/logs?target=&lines=&sinceMs=&grep=&follow=1. */
export interface LogLine {
  readonly instance: string;
  readonly line: string;
  /** When known (lines carry no time of their own: file times bound them). */
  readonly at: string | null;
  /** A line that is none: what there was is told, what follows is new. Sent where it was asked for. */
  readonly isMark?: boolean;
}

export interface PreflightLine {
  readonly check: string;
  readonly verdict: "OK" | "WARN" | "FAIL";
  /** What was read. */
  readonly found: string;
  /** Why it matters. */
  readonly why: string;
  /** The exact command a person can run. */
  readonly command: string;
}

/** RFC 9457 problem document of the control API and the web API alike. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly next?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Exit codes of every program, by interface.md. The only translator: ctl/exit-codes.ts (owlctl), supervisor/main.ts (owld). */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  busy: 4,
  timeout: 5,
  changes: 10,
  restartMe: 75,
  config: 78,
  interrupted: 130,
} as const;
