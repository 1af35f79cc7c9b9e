// What a bundled process is told by owld, read once. Invariant: its secrets are in memory alone afterwards.

import { type Logger, pino } from "pino";
import type { AppConfig } from "../config/config.ts";
import { DEFAULTS } from "../config/defaults.ts";
import { takeHanded } from "../config/handed-config.ts";
import { INSTANCE_ENV } from "../config/instance-env.ts";
import { logDestination } from "../config/log-destination.ts";
import { failure } from "./core/wire/errors.ts";

interface Instance {
  /** `worker-2` */
  readonly id: string;
  readonly service: string;
  readonly release: string;
  /** Unix socket to listen on; null when owld gave none. */
  readonly socket: string | null;
  /** Where to listen without a socket: PORT, on loopback unless HOST says otherwise (a pod's own address). */
  readonly address: { readonly host: string; readonly port: number } | null;
  readonly config: AppConfig;
  readonly databaseUrl: string;
}

/** Keys that an older owld does not tell. */
const SINCE = {
  models: [],
  budget: { monthly: null },
  retention: DEFAULTS.retention,
  limits: DEFAULTS.accountLimits,
  tools: { http: { allow: [] }, approval: [], approvalOf: "everyone", approvers: "owner" },
} as const;

/** Reads and removes the instance's configuration. Throws `instance.environment` when it was not started by owld. */
export function readInstance(env: NodeJS.ProcessEnv): Instance {
  const text = takeHanded(env);
  const id = env[INSTANCE_ENV.instance];
  if (text === undefined || id === undefined) {
    throw failure("instance.environment");
  }
  // In the middle of an update an owld of before these keys starts us.
  const handed = JSON.parse(text) as Omit<AppConfig, keyof typeof SINCE> & { readonly tools?: object };
  const config: AppConfig = { ...SINCE, ...handed, tools: { ...SINCE.tools, ...handed.tools } };
  if (config.databaseUrl === null) {
    throw failure("instance.environment#database");
  }
  return {
    id,
    service: env[INSTANCE_ENV.service] ?? id.replace(/-\d+$/, ""),
    release: env[INSTANCE_ENV.release] ?? "unknown",
    socket: env[INSTANCE_ENV.socket] ?? null,
    address: env.PORT === undefined ? null : { host: env.HOST ?? "127.0.0.1", port: Number(env.PORT) },
    config,
    databaseUrl: config.databaseUrl,
  };
}

/** The process's log: JSON lines on standard output, which is the instance's log file. */
export function createLog(instance: string): Logger {
  const options = {
    base: { instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: ["req.headers.cookie", "req.headers.authorization"], remove: true },
  };
  return pino(options, logDestination(1));
}
