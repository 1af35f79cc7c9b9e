// What holds when owl.yaml and the environment say nothing. Each figure is the one of the specification.

import type { AccountLimits, JobKind } from "./config.ts";

const DAY_MS = 86_400_000;

export const DEFAULTS = {
  listen: { host: "127.0.0.1", port: 8080 },
  acme: {
    directory: "https://acme-v02.api.letsencrypt.org/directory",
    /** Where an authority looks, and browsers too. */
    listen: { host: "0.0.0.0", port: 443 },
    redirectFrom: { host: "0.0.0.0", port: 80 },
  },
  proxy: {
    processes: 1,
    connectTimeoutMs: 500,
    queueTimeoutMs: 5_000,
    drainTimeoutMs: 300_000,
    hstsMaxAgeS: 31_536_000,
    http2: true,
  },
  limits: {
    headerBytes: 16 * 2 ** 10,
    headerTimeoutMs: 10_000,
    idleTimeoutMs: 75_000,
    connections: 20_000,
    bodyBytes: 10 * 2 ** 20,
    uploadBytes: 4 * 2 ** 30,
    bodyBytesPerS: 500,
  },
  postgres: { maxConnections: 600, binaries: "auto" },
  graceMs: 330_000,
  turn: { finishMs: 270_000, wrapUpMs: 30_000, claimMs: 420_000, limitMs: 1_800_000, onStop: "handOver" },
  retention: {
    conversationsMs: 730 * DAY_MS,
    eventsMs: 7 * DAY_MS,
    transcriptionsMs: 730 * DAY_MS,
    batchesMs: 730 * DAY_MS,
    runsMs: 365 * DAY_MS,
    analysesMs: 365 * DAY_MS,
    uploadsMs: 90 * DAY_MS,
    auditMs: 730 * DAY_MS,
    rollouts: 200,
  },
  backup: {
    everyMs: DAY_MS / 4,
    walEveryMs: 3_000,
    keep: { hourly: 8, daily: 7, weekly: 4 },
    bandwidthBytesPerS: 64 * 2 ** 20,
    drillEveryMs: 7 * DAY_MS,
  },
  rollout: { healthTimeoutMs: 300_000, surge: "auto" as const, confirmMs: 10_000, updateConfirmMs: 30_000 },
  deploy: { keep: 5, sizeBytes: 2 * 2 ** 30, beforeMs: 600_000, share: { part: 0, ms: 300_000 } },
  logs: { sizeBytes: 10 * 1_048_576, count: 5 },
  schedule: { zone: "UTC", overlap: "skip" as const, missed: "skip" as const, limitMs: 3_600_000 },
  tracesShare: 1,
  worse: { errorShare: 0.05, p95Factor: 3 },
  heartbeat: { intervalMs: 10_000, stalledAfterMs: 30_000 },
  oidc: { scopes: ["openid", "profile", "email"], groups: "groups", sessionMs: DAY_MS / 2 },
  replicas: 2,
  pool: 20,
  concurrency: { chat: 8, transcription: 2, playbook: 4, "schema-analysis": 2 } satisfies Record<JobKind, number>,
  accountLimits: {
    turns: 500,
    runs: 500,
    recordings: 100_000,
    conversations: 20_000,
    playbooks: 500,
    uploads: 100,
    uploadBytes: 32 * 2 ** 30,
    attachments: 100,
    schedules: 50,
    eventStreams: 200,
    storedBytes: 100 * 2 ** 30,
    searches: 2,
    statements: 4,
    statementsPerMinute: 600,
  } satisfies AccountLimits,
  /** Of a worker's places for one kind, how many one account may hold at a time; at least one. */
  accountShare: 0.75,
  /** Connections a bundled process holds besides its pool: LISTEN and pulse; a worker also cancels statements. */
  listeners: { web: 2, worker: 3 },
  health: { intervalMs: 5_000, timeoutMs: 2_000, uptimeMs: 2_000 },
  mailFrom: "owl@localhost",
} as const;
