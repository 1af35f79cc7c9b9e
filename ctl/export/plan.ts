// What both exports say of a service: how it is started, probed, stopped, and which variables are secrets. Pure.
// Invariant: no secret's value leaves this file; secrets are names, their values are filled in by whoever deploys.

import type { Config, HealthCheck, ServiceConfig } from "../../config/config.ts";
import { isSecretName } from "../../config/secrets.ts";

/** The port every exported service listens on, in a network namespace of its own. */
export const PORT = 8080;
/** Where a service's secret files lie in its container. */
export const CREDENTIALS = "/run/secrets";
/** Where the image built from a release has the code. */
export const CODE = "/owl";

export interface ExportedService {
  readonly name: string;
  readonly command: readonly string[];
  readonly replicas: number;
  readonly graceS: number;
  readonly listens: boolean;
  readonly routes: ServiceConfig["routes"];
  readonly check: HealthCheck;
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly startupS: number;
  readonly signal: string;
  readonly plainEnv: Readonly<Record<string, string>>;
  /** Names whose values come from the secret. */
  readonly secretEnv: readonly string[];
  /** Files of its `secrets:`: name, and the key of the secret that holds it. */
  readonly secretFiles: readonly { readonly name: string; readonly key: string }[];
  readonly memoryLimitBytes: number | null;
  /** Seconds between leaving the endpoints and SIGTERM: a cluster's own routing lags behind. */
  readonly preStopS: number;
  readonly bundled: boolean;
}

export interface ExportRequest {
  readonly config: Config;
  readonly root: string;
  readonly image: string;
  readonly version: string;
}

/** The services of `config` as both manifests need them. */
export function exportedServices({ config, root, version }: ExportRequest): readonly ExportedService[] {
  return config.services
    .filter(({ schedule, command }) => schedule === undefined && command.length > 0)
    .map((service) => exported(service, config, root, version));
}

function exported(service: ServiceConfig, config: Config, root: string, version: string): ExportedService {
  // The bundled worker shows its readiness on a port here, where there is no socket to share.
  const listens = service.listen !== "none";
  const secretEnv = Object.keys(service.env).filter(
    (name) => (service.secretEnv ?? []).includes(name) || isSecretName(name) || hasPassword(service.env[name] ?? ""),
  );
  const plain = Object.entries(service.env).filter(([name]) => !secretEnv.includes(name));
  return {
    name: service.name,
    command: service.command.map((word) => inImage(fill(word), root)),
    replicas: service.replicas,
    graceS: Math.ceil(service.stop.graceMs / 1_000),
    listens,
    routes: service.routes,
    check: service.health.check,
    intervalS: Math.max(1, Math.round(service.health.intervalMs / 1_000)),
    timeoutS: Math.max(1, Math.round(service.health.timeoutMs / 1_000)),
    startupS: Math.max(1, Math.round(config.rollout.healthTimeoutMs / 1_000)),
    signal: service.stop.signal,
    plainEnv: {
      ...Object.fromEntries(plain),
      OWL_SERVICE: service.name,
      OWL_RELEASE: version,
      ...(service.secrets === undefined ? {} : { CREDENTIALS_DIRECTORY: CREDENTIALS }),
      ...(listens ? { PORT: String(PORT), HOST: "0.0.0.0" } : {}),
    },
    secretEnv: service.bundled ? [...secretEnv, "OWL_APP_CONFIG"] : secretEnv,
    secretFiles: Object.keys(service.secrets ?? {}).map((name) => ({ name, key: `${service.name}.${name}` })),
    memoryLimitBytes: service.controlGroup?.memoryMaxBytes ?? service.memoryLimitBytes,
    preStopS: service.routes.length > 0 ? 6 : 0,
    bundled: service.bundled,
  };
}

/** {instance} stays a variable of the container; the rest is fixed there. */
function fill(word: string): string {
  return word
    .replaceAll("{port}", String(PORT))
    .replaceAll("{home}", "/var/lib/owl")
    .replaceAll("{socket}", "/tmp/owl.sock")
    .replaceAll("{instance}", "$(OWL_INSTANCE)");
}

/** The pinned Node and the checkout's paths as they are in the image. */
function inImage(word: string, root: string): string {
  if (word === process.execPath) return "node";
  return word.startsWith(`${root}/`) ? `${CODE}${word.slice(root.length)}` : word;
}

function hasPassword(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/\s]*:[^/\s]*@/i.test(value);
}

/** `owl-web`, as names of objects must be (RFC 1123). */
export function objectName(...parts: readonly string[]): string {
  return parts
    .join("-")
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63);
}

/** What of a service a compose file has no place for: told in its head, so that none is lost silently. */
export function leftOut({ config, root }: Pick<ExportRequest, "config" | "root">): readonly LeftOut[] {
  return config.services.flatMap((service): LeftOut[] => {
    const { name, cwd, user, routes, umask, schedule, controlGroup } = service;
    const weight = controlGroup?.cpuWeight;
    // Neither manifest runs anything by the clock, or serves files.
    if (schedule !== undefined) return [{ service: name, key: "schedule", value: schedule.cron }];
    const inCode = cwd === root || cwd.startsWith(`${root}/`);
    return [
      ...routes.map(({ host, path, files }): LeftOut => {
        const value = `${host}${path}`;
        return { service: name, key: files === undefined ? "routes" : "files", value };
      }),
      ...(inCode ? [] : [{ service: name, key: "cwd", value: cwd } as const]),
      ...(user === null ? [] : [{ service: name, key: "user", value: user } as const]),
      ...(umask === null ? [] : [{ service: name, key: "umask", value: umask.toString(8).padStart(4, "0") } as const]),
      ...(weight === undefined ? [] : [{ service: name, key: "cpuWeight", value: String(weight) } as const]),
    ];
  });
}

interface LeftOut {
  readonly service: string;
  readonly key: "routes" | "cwd" | "user" | "umask" | "schedule" | "files" | "cpuWeight";
  readonly value: string;
}
