// The control API's shapes as zod schemas: they check requests and become the OpenAPI document.
// Invariant: each is typed against config/control-api.ts, so a shape that differs from the contract does not compile.

import { z } from "zod";
import { JOB_KINDS } from "../../config/config.ts";
import type * as api from "../../config/control-api.ts";
import { INSTANCE_STATES, ROLLOUT_KINDS, ROLLOUT_STATES, SUPERVISOR_STATES } from "../../config/control-api.ts";
import type * as deploys from "../../config/deploy-api.ts";

const count = z.int().min(0);
const time = z.iso.datetime().describe("UTC, ISO 8601");
const ms = z.number().min(0).describe("milliseconds");

const lastExit: z.ZodType<api.LastExit> = z.discriminatedUnion("known", [
  z.object({
    known: z.literal(true),
    code: z.int().nullable(),
    signal: z.string().nullable(),
    at: time,
    outOfMemory: z.enum(["no", "likely"]),
  }),
  z.object({ known: z.literal(false), at: time }),
]);

const instance: z.ZodType<api.InstanceStatus> = z.object({
  id: z.string(),
  pid: z.int().nullable(),
  state: z.enum(INSTANCE_STATES),
  release: z.string(),
  startedAt: time.nullable(),
  restarts: count.describe("crashes in this place"),
  inFlight: count,
  rssBytes: count,
  cpu: z.number().describe("share of one core over the last sample"),
  lastExit: lastExit.nullable(),
});

const step: z.ZodType<api.RolloutStep> = z.object({
  n: count,
  service: z.string(),
  action: z.string(),
  instance: z.string().nullable(),
  state: z.enum(["waiting", "running", "done", "failed", "skipped"]),
  startedAt: time.nullable(),
  elapsedMs: ms,
});

const ledger: z.ZodType<api.RolloutLedger> = z.object({
  requestsFailed: count,
  retriedAtConnect: count,
  drainedInFlight: count,
  longestDrainMs: ms,
  streamsMoved: count,
  jobsFinished: count,
  jobsHandedBack: count,
  jobsCut: count,
  jobsReclaimed: count,
  instancesKilled: count,
});

const rolloutFields = {
  id: z.string(),
  kind: z.enum(ROLLOUT_KINDS),
  state: z.enum(ROLLOUT_STATES),
  startedAt: time,
  endedAt: time.nullable(),
  reason: z.string().nullable(),
  steps: z.array(step),
  ledger: ledger.nullish(),
  notes: z.array(z.string()).optional(),
  askedBy: z.string().optional(),
  cancelling: z.literal(true).optional(),
  estimate: z.object({ expectedMs: ms, worstMs: ms }).nullish(),
};
export const rollout: z.ZodType<api.Rollout> = z.object(rolloutFields);

const rolloutEvent: z.ZodType<api.RolloutEvent> = z.object({
  at: time,
  rollout: z.string(),
  service: z.string(),
  instance: z.string(),
  event: z.enum(["starting", "ready", "routed", "draining", "stopped", "killed", "failed", "step"]),
  elapsedMs: ms,
  message: z.string().optional(),
});
export const rolloutLine: z.ZodType<api.RolloutLine> = z.union([
  rolloutEvent,
  z.object({ ...rolloutFields, rollout: z.string() }).describe("the last line"),
]);

const scheduleStatus = z.object({
  cron: z.string(),
  zone: z.string(),
  nextAt: time.nullable(),
  running: z.object({ id: z.string(), pid: z.int().nullable(), startedAt: time }).nullable(),
  last: z
    .object({
      id: z.string(),
      startedAt: time,
      endedAt: time,
      outcome: z.enum(["succeeded", "failed", "lost"]),
      how: z.string(),
    })
    .nullable(),
});

export const status: z.ZodType<api.Status> = z.object({
  version: z.string(),
  pid: z.int(),
  startedAt: time,
  state: z.enum(SUPERVISOR_STATES),
  release: z.object({ version: z.string(), path: z.string() }),
  proxy: z.object({
    listen: z.array(z.string()),
    processes: z.array(z.object({ id: z.string(), pid: z.int(), state: z.string() })),
    inFlight: count,
    requests: count,
    retries: count,
    failures: count,
    certificate: z
      .object({
        until: time.nullable(),
        standIn: z.boolean(),
        renewal: z
          .object({ domains: z.array(z.string()), nextAt: time, failures: count, why: z.string().nullable() })
          .nullable(),
      })
      .nullish(),
  }),
  services: z.array(
    z.object({
      name: z.string(),
      replicas: count,
      ready: count,
      wanted: z.enum(["up", "down"]),
      crashLooping: z.boolean(),
      scaledFrom: z.number().int().optional(),
      restarts: z.number().int().optional(),
      release: z.string().optional(),
      instances: z.array(instance),
      schedule: scheduleStatus.optional(),
    }),
  ),
  connections: z
    .object({
      limit: count,
      maxConnections: count,
      steady: count,
      surge: count,
      open: count,
      peak: count,
      verdict: z.enum(["ok", "warn", "fail"]),
      byApplication: z.record(z.string(), count).optional(),
    })
    .nullable(),
  workers: z
    .array(
      z.object({
        id: z.string(),
        state: z.enum(["active", "draining", "stalled"]),
        heartbeatAgeMs: ms,
        jobs: z.partialRecord(z.enum(JOB_KINDS), count),
      }),
    )
    .nullable(),
  rollout: rollout.nullable(),
  disks: z
    .array(z.object({ path: z.string(), freeBytes: count, fullInDays: z.number().nonnegative().nullable() }))
    .optional(),
  backup: z
    .object({
      directory: z.string(),
      running: z.boolean(),
      last: z.object({ id: z.string(), at: time, bytes: count, elapsedMs: ms }).nullable(),
      log: z.object({ at: time, lagMs: ms }).nullable(),
      standby: z.object({ at: time.nullable() }).nullable().optional(),
      drill: z
        .object({
          backup: z.string(),
          at: time,
          passed: z.boolean(),
          rpoMs: ms.nullable(),
          rtoMs: ms.nullable(),
          reason: z.string().nullable(),
        })
        .nullable(),
      problem: z.string().nullable(),
    })
    .nullable()
    .optional(),
  warnings: z.array(z.string()),
});

export const rolloutRequest: z.ZodType<api.RolloutRequest> = z.strictObject({
  kind: z.literal("restart"),
  services: z.array(z.string()).optional().describe("empty or absent: all of them"),
  all: z.boolean().optional().describe("also what the last, unfinished rollout has replaced already"),
});

const allowUnsigned = z.boolean().optional().describe("take it though no key known here has signed it");
export const updateRequest: z.ZodType<api.UpdateRequest> = z.strictObject({
  source: z.string().min(1).describe("archive or release directory on owld's machine, absolute"),
  allowUnsigned,
  overlap: z.boolean().optional().describe("old and new workers together, where the manifests allow it"),
});
export const stageRequest: z.ZodType<api.StageRequest> = z.strictObject({ source: z.string().min(1), allowUnsigned });
export const staged: z.ZodType<api.StagedAnswer> = z.object({
  version: z.string(),
  path: z.string(),
  already: z.boolean(),
  signing: z.enum(["checked", "unknown", "allowed"]),
});
export const rollbackRequest = z.strictObject({ version: z.string().nullish() });

export const deployRequest: z.ZodType<deploys.DeployRequest> = z
  .strictObject({
    services: z.array(z.string()).optional().describe("empty or absent: all of a team's own"),
    path: z.string().startsWith("/").optional().describe("directory or archive on owld's machine, absolute"),
    ref: z
      .string()
      .regex(/^[^-\s][^\s]{0,250}$/, "must be a commit, branch or tag")
      .optional()
      .describe("commit, branch or tag of the checkout in the first service's source, or in `directory`"),
    directory: z.string().startsWith("/").optional(),
    release: z.string().optional().describe('one that lies here, or "before"'),
    share: z.number().min(0).max(1).optional().describe("the part of the clients it gets first"),
  })
  .refine(
    ({ path, ref, release }) => [path, ref, release].filter((one) => one !== undefined).length === 1,
    "takes one of path, ref, release",
  );

export const runRequest: z.ZodType<deploys.RunRequest> = z.strictObject({
  target: z.string().describe("a service; with inInstance an instance too"),
  command: z.array(z.string()).max(1_000).describe("empty: a service with a schedule runs now"),
  inInstance: z.boolean().optional(),
});
export const runLine: z.ZodType<deploys.RunLine> = z.union([
  z.object({ stream: z.enum(["stdout", "stderr"]), text: z.string() }),
  z
    .object({
      exit: z.object({
        code: z.int().nullable(),
        signal: z.string().nullable(),
        cause: z.enum(["aborted", "late"]).nullable(),
      }),
    })
    .describe("the last line"),
]);

export const listedRelease: z.ZodType<deploys.ListedRelease> = z.object({
  id: z.string(),
  madeAt: time,
  from: z.string().describe("what it was made of"),
  sha256: z.string(),
  files: count,
  bytes: count,
  stood: z.record(z.string(), time).describe("when it last came into force, by service"),
  serves: z.array(z.string()).describe("services it is in force for"),
});

export const rolloutPlan: z.ZodType<api.RolloutPlan> = z.object({
  changes: z.boolean(),
  steps: z.array(
    z.object({
      service: z.string(),
      action: z.string(),
      instance: z.string().nullable(),
      note: z.string().optional(),
    }),
  ),
  expectedMs: ms,
  worstMs: ms,
  peakConnections: count.nullable(),
  connectionLimit: count.nullable(),
  peakMemoryBytes: count.nullable(),
  notes: z.array(z.string()),
});

export const owlEvent: z.ZodType<api.OwlEvent> = z.object({
  id: count,
  at: time,
  type: z.string().describe("noun.pastTense"),
  service: z.string().nullable(),
  instance: z.string().nullable(),
  rollout: z.string().nullable(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()).optional(),
});

export const logLine: z.ZodType<api.LogLine> = z.object({
  instance: z.string(),
  line: z.string().describe("bytes that are no UTF-8 shown as U+FFFD"),
  at: time.nullable(),
  isMark: z.boolean().optional().describe("no line: what follows is new"),
});

export const scaleRequest: z.ZodType<api.ScaleRequest> = z
  .record(z.string(), z.int().min(0).max(10_000))
  .refine((wanted) => Object.keys(wanted).length > 0, "names no service");

export const changed: z.ZodType<api.Changed> = z.object({
  changed: z.boolean(),
  notes: z.array(z.string()),
  rollout: rollout.nullable(),
  added: z.object({ names: z.array(z.string()), standMs: z.number() }).optional(),
});

export const killed: z.ZodType<api.Killed> = z.object({ instance: z.string(), notes: z.array(z.string()) });

export const why: z.ZodType<api.Why> = z.object({
  target: z.string(),
  kind: z.enum(["service", "instance"]),
  summary: z.array(z.string()),
  instances: z.array(
    z.object({
      id: z.string(),
      service: z.string(),
      state: z.enum(INSTANCE_STATES),
      wanted: z.enum(["up", "down"]),
      pid: z.int().nullable(),
      startedAt: time.nullable(),
      restarts: count,
      lastExit: lastExit.nullable(),
      lastProbe: z
        .object({
          at: time,
          ok: z.boolean(),
          status: z.int().nullable(),
          body: z.string(),
          error: z.string().nullable(),
        })
        .nullable(),
      heartbeatAgeMs: ms.nullable(),
      backoff: z.object({ attempt: count, delayMs: ms, nextTryAt: time }).nullable(),
      leftOver: z.array(z.object({ pid: z.int(), command: z.string() })),
      changedEnv: z.array(z.string()),
      log: z.array(z.string()),
    }),
  ),
});

export const preflightLines: z.ZodType<readonly api.PreflightLine[]> = z.array(
  z.object({
    check: z.string(),
    verdict: z.enum(["OK", "WARN", "FAIL"]),
    found: z.string(),
    why: z.string(),
    command: z.string(),
  }),
);

export const shownConfig: z.ZodType<api.ShownConfig> = z.object({
  file: z.string().nullable(),
  config: z.record(z.string(), z.unknown()).describe("every secret as ***"),
});

export const problem: z.ZodType<api.Problem> = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string().describe("stable"),
  detail: z.string(),
  next: z.string().optional().describe("what to do now"),
  data: z.record(z.string(), z.unknown()).optional(),
});

const flag = z.enum(["0", "1", "true", "false"]).transform((text) => text === "1" || text === "true");
const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number);

export const eventsQuery = z.strictObject({
  follow: flag.optional().describe("1: goes on with what happens"),
  after: wholeNumber.optional().describe("only events with a greater id"),
  limit: wholeNumber.optional().describe("at most so many past events"),
  service: z.string().optional(),
  instance: z.string().optional(),
});

export const rolloutsQuery = z.strictObject({
  limit: wholeNumber.pipe(z.number().min(1).max(200)).optional().describe("at most so many, 1 to 200 (50)"),
  before: z
    .string()
    .regex(/^r-\d{1,15}$/, "must be a rollout's id such as r-12")
    .optional()
    .describe("only those begun before that one"),
});

export const logsQuery = z.strictObject({
  target: z.string().optional().describe("a service or an instance; absent: all"),
  lines: wholeNumber.optional().describe("the last so many lines; absent: all that sinceMs lets through, or 100"),
  sinceMs: wholeNumber.optional().describe("lines of the last so many milliseconds"),
  follow: flag.optional().describe("1: goes on with new lines"),
  mark: flag.optional().describe("1: with follow, one line with isMark between the past lines and the new ones"),
});
