// The shape of owl.yaml: every key, strict at every level. Values come out parsed (ms, bytes, addresses), not yet
// completed by defaults (defaults.ts), not yet checked against each other (relations.ts).

import { z } from "zod";
import { APPROVAL_OF, APPROVERS, CHAT_TITLES, MOST_LOG_FILES, OVERLAPS, SHARED_WITH, TOOL_NAMES } from "./config.ts";
import { MISSED_POLICIES } from "./due-ticks.ts";
import {
  argv,
  domain,
  duration,
  flag,
  kept,
  leaf,
  listenAddress,
  listenAddresses,
  network,
  oneOf,
  percentage,
  quietHours,
  reachable,
  secretLeaf,
  share,
  size,
  text,
  times,
  umask,
  whole,
} from "./leaves.ts";
import { describeSchema } from "./meanings.ts";
import { NOTICE_KINDS } from "./notice-kinds.ts";

const path = text("a path");
const SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH"] as const;
/** What one certificate names at most; an authority takes each of them in turn. */
const MOST_DOMAINS = 25;
const SECRET = "a text, ${NAME} of the environment, or file:PATH";

const acme = z.strictObject({
  domains: z.array(domain).min(1).max(MOST_DOMAINS),
  email: text("a mail address"),
  directory: text("the https:// address of an ACME directory").optional(),
  dns: z.strictObject({ command: argv("[/etc/owl/dns-hook]") }).optional(),
});

const proxy = z
  .strictObject({
    listen: listenAddresses,
    processes: whole(1, 64),
    connectTimeout: duration,
    queueTimeout: duration,
    drainTimeout: duration,
    tls: z
      .strictObject({ cert: path, key: path, acme, redirectFrom: listenAddress, hsts: duration, http2: flag })
      .partial(),
    limits: z
      .strictObject({
        header: size,
        headerTimeout: duration,
        idleTimeout: duration,
        connections: whole(1, 1_000_000),
        body: size,
        upload: size,
        bodyRate: size,
      })
      .partial(),
    metrics: listenAddress,
    trust: z.array(network),
    accessLog: flag,
    compress: flag,
  })
  .partial();

/** Settings of PostgreSQL: numbers and truth values are taken as their text. */
const settings = z.record(
  z.string(),
  leaf("a text, number or true/false", { type: ["string", "number", "boolean"] }, (raw) =>
    ["string", "number", "boolean"].includes(typeof raw) ? { value: String(raw) } : null,
  ),
);

const amount = leaf("a number from 0", { type: "number", minimum: 0 }, (raw) =>
  typeof raw === "number" && raw >= 0 && Number.isFinite(raw) ? { value: raw } : null,
);

const model = z.strictObject({
  baseUrl: text("an http(s) URL"),
  apiKey: secretLeaf(SECRET).optional(),
  name: text("the model's name"),
  price: z.strictObject({ input: amount, output: amount }).optional(),
  vision: flag.optional(),
});

const surge = leaf<"auto" | number>("auto or a whole number from 1 to 100", { type: ["string", "integer"] }, (raw) =>
  raw === "auto" || (typeof raw === "number" && Number.isInteger(raw) && raw >= 1 && raw <= 100)
    ? { value: raw as "auto" | number }
    : null,
);

/** `KEY: text`, or `KEY: {value: text}` for a text that must be kept as it is whatever it looks like. */
const variable = leaf<{ readonly text: string; readonly verbatim: boolean }>(
  "a text, number or true/false (or {value: text} to keep it as it is)",
  { type: ["string", "number", "boolean", "object"] },
  (raw) => {
    if (["string", "number", "boolean"].includes(typeof raw)) return { value: { text: String(raw), verbatim: false } };
    const value = typeof raw === "object" && raw !== null ? (raw as Record<string, unknown>).value : undefined;
    return typeof value === "string" && Object.keys(raw as object).length === 1
      ? { value: { text: value, verbatim: true } }
      : null;
  },
);

const oneOrMany = leaf<readonly string[]>("a path or a list of paths", { type: ["string", "array"] }, (raw) => {
  const list = Array.isArray(raw) ? raw : [raw];
  return list.length > 0 && list.every((one) => typeof one === "string" && one !== "")
    ? { value: list as string[] }
    : null;
});

const addresses = leaf<readonly string[]>(
  "a mail address or a list of up to 20",
  { type: ["string", "array"] },
  (raw) => {
    const list = Array.isArray(raw) ? raw : [raw];
    const isAddress = (one: unknown) => typeof one === "string" && /^[^\s@,;<>]{1,64}@[^\s@,;<>]{1,255}$/.test(one);
    return list.length > 0 && list.length <= 20 && list.every(isAddress) ? { value: list as string[] } : null;
  },
);

const route = z.strictObject({
  host: text('a host name or "*"').optional(),
  path: text("a path").optional(),
  body: size.optional(),
  files: path.optional(),
  cache: duration.optional(),
});

const memory = z.strictObject({ limit: size });

const controlGroup = z.strictObject({ cpuWeight: whole(1, 10_000), memoryMax: size }).partial();

/** Rotation itself needs a second file. */
const logs = z.strictObject({ size, count: whole(2, MOST_LOG_FILES) }).partial();

const service = z.strictObject({
  command: argv("[node, server.js]").optional(),
  cwd: path.optional(),
  source: path.optional(),
  before: z.array(argv("[npm, ci]")).optional(),
  env: z.record(z.string(), variable).optional(),
  envFile: oneOrMany.optional(),
  secrets: z.record(z.string(), secretLeaf(SECRET)).optional(),
  user: text("a user name").optional(),
  umask: umask.optional(),
  replicas: whole(0, 1_000).optional(),
  listen: oneOf(["socket", "port", "none"]).optional(),
  routes: z.array(route).optional(),
  health: z
    .strictObject({
      http: text("a path such as /readyz"),
      command: argv("[curl, -f, localhost]"),
      uptime: duration,
      interval: duration,
      timeout: duration,
    })
    .partial()
    .optional(),
  stop: z
    .strictObject({ grace: duration, signal: oneOf(SIGNALS), after: oneOf(["idle", "routed-out"]) })
    .partial()
    .optional(),
  start: z.strictObject({ timeout: duration }).optional(),
  depends_on: z.array(text("a service's name")).optional(),
  schedule: z
    .strictObject({
      cron: text("minute, hour, day of month, month, day of week"),
      zone: text("a time zone such as Asia/Seoul").optional(),
      overlap: oneOf(OVERLAPS).optional(),
      missed: oneOf(MISSED_POLICIES).optional(),
      limit: duration.optional(),
    })
    .optional(),
  connections: whole(0, 100_000).optional(),
  memory: memory.optional(),
  controlGroup: controlGroup.optional(),
  logs: logs.optional(),
});

const concurrency = z
  .strictObject({
    chat: whole(0, 1_000),
    transcription: whole(0, 1_000),
    playbook: whole(0, 1_000),
    "schema-analysis": whole(0, 1_000),
  })
  .partial();

const backup = z.strictObject({
  directory: path,
  every: duration.optional(),
  walEvery: duration.optional(),
  keep: z
    .strictObject({ hourly: whole(1, 1_000), daily: whole(0, 1_000), weekly: whole(0, 1_000) })
    .partial()
    .optional(),
  encrypt: z.strictObject({ passphraseFile: path }).optional(),
  command: argv('[restic, backup, "{directory}"]').optional(),
  bandwidth: size.optional(),
  drill: kept.optional(),
});

const notify = z
  .strictObject({
    mail: z.strictObject({ to: addresses }),
    webhook: z.strictObject({ url: secretLeaf(`an http(s) URL (${SECRET})`) }),
    quiet: quietHours,
    events: z.array(oneOf(NOTICE_KINDS)),
  })
  .partial();

const oidc = z.strictObject({
  issuer: text("the provider's https:// address"),
  clientId: text("the client's id"),
  clientSecret: secretLeaf(SECRET).optional(),
  url: text("the https:// address browsers reach Owl at").optional(),
  scopes: z.array(text("a scope")).optional(),
  groups: text("a claim's name").optional(),
  roles: z
    .strictObject({ administrator: z.array(text("a group")), member: z.array(text("a group")) })
    .partial()
    .optional(),
  domains: z.array(domain).min(1).optional(),
  provision: flag.optional(),
  linkByEmail: flag.optional(),
  button: text("a few words").optional(),
  session: duration.optional(),
});

export const owlYaml = z
  .strictObject({
    proxy,
    auth: z.strictObject({ local: flag, oidc }).partial(),
    backup,
    notify,
    database: z.strictObject({ url: secretLeaf(`a postgres:// URL (${SECRET})`) }),
    postgres: z
      .strictObject({ maxConnections: whole(10, 100_000), settings, binaries: text("auto or a directory") })
      .partial(),
    stop: z.strictObject({ grace: duration }).partial(),
    turn: z
      .strictObject({
        finish: duration,
        wrapUp: duration,
        claim: duration,
        limit: duration,
        onStop: oneOf(["handOver", "cut"]),
      })
      .partial(),
    retention: z
      .strictObject({
        conversations: kept,
        events: kept,
        transcriptions: kept,
        batches: kept,
        runs: kept,
        analyses: kept,
        uploads: kept,
        audit: kept,
        rollouts: whole(1, 10_000),
      })
      .partial(),
    rollout: z
      .strictObject({
        healthTimeout: duration,
        surge,
        confirm: duration,
        worse: z.strictObject({ errors: percentage, p95: times }).partial(),
      })
      .partial(),
    deploy: z
      .strictObject({
        keep: whole(1, 1_000),
        size,
        beforeTimeout: duration,
        share: percentage,
        shareFor: duration,
      })
      .partial(),
    logs,
    heartbeat: z.strictObject({ interval: duration, stalledAfter: duration }).partial(),
    web: z.strictObject({ replicas: whole(0, 1_000), pool: whole(1, 10_000), memory }).partial(),
    worker: z
      .strictObject({ replicas: whole(0, 1_000), pool: whole(1, 10_000), memory, concurrency, accountShare: share })
      .partial(),
    services: z.record(z.string(), service),
    model,
    models: z.array(model),
    budget: z.strictObject({ monthly: amount }).partial(),
    telemetry: z.strictObject({ traces: text("an http(s) URL of an OTLP collector"), share: percentage }).partial(),
    chat: z.strictObject({ links: oneOf(SHARED_WITH), titles: oneOf(CHAT_TITLES) }).partial(),
    transcription: z
      .strictObject({
        engine: oneOf(["openai", "command"]),
        command: argv('[whisper-cli, "{file}"]'),
        baseUrl: text("an http(s) URL"),
        apiKey: secretLeaf(SECRET),
        model: text("the model's name"),
        onStop: oneOf(["handBack", "finish"]),
      })
      .partial(),
    archive: z.strictObject({ roots: z.array(path) }),
    dataSources: z.record(z.string(), z.strictObject({ url: secretLeaf(`a postgres:// URL (${SECRET})`) })),
    limits: z
      .strictObject({
        turns: whole(1, 1_000_000),
        runs: whole(1, 1_000_000),
        recordings: whole(1, 10_000_000),
        conversations: whole(1, 10_000_000),
        playbooks: whole(1, 1_000_000),
        uploads: whole(1, 1_000_000),
        uploadBytes: size,
        attachments: whole(1, 1_000_000),
        schedules: whole(1, 100_000),
        eventStreams: whole(1, 1_000_000),
        storedBytes: size,
        searches: whole(1, 1_000),
        statements: whole(1, 1_000),
        statementsPerMinute: whole(1, 1_000_000),
      })
      .partial(),
    tools: z
      .strictObject({
        http: z.strictObject({ allow: z.array(reachable) }),
        approval: z.array(oneOf(TOOL_NAMES)),
        approvalOf: oneOf(APPROVAL_OF),
        approvers: oneOf(APPROVERS),
      })
      .partial(),
    mail: z.strictObject({ smtp: secretLeaf(`an smtp:// URL (${SECRET})`), from: text("a mail address").optional() }),
  })
  .partial();

export type OwlYaml = z.output<typeof owlYaml>;
export type OwlYamlService = z.output<typeof service>;

/** JSON Schema of owl.yaml, for editors (`owlctl config schema`). */
export function owlYamlJsonSchema(): Record<string, unknown> {
  const schema = { title: "owl.yaml", ...z.toJSONSchema(owlYaml, { io: "input" }) };
  describeSchema(schema as Parameters<typeof describeSchema>[0]);
  return schema;
}
