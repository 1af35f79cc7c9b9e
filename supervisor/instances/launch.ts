// What a new instance is given: name, place to listen, environment, argv. Shaped from the configuration at each spawn.
// Invariant: nothing of owld's own environment reaches it but the few names below; what a bundled one is told goes through
// a descriptor, unless its code is of before that.

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { AppConfig, ServiceConfig } from "../../config/config.ts";
import { takesDescriptor } from "../../config/handed-config.ts";
import type { HomePaths } from "../../config/home.ts";
import { INSTANCE_ENV, inheritedEnv } from "../../config/instance-env.ts";
import { fillCommand } from "../core/fill-command.ts";
import type { InstanceTarget } from "../core/instance.ts";
import type { SpawnRequest } from "../ports.ts";

interface LaunchFacts {
  readonly service: ServiceConfig;
  readonly id: string;
  readonly target: InstanceTarget;
  readonly paths: HomePaths;
  readonly mark: string;
  readonly release: string;
  /** OWL_APP_CONFIG of bundled services, its database URL filled in. */
  readonly app: AppConfig | null;
  /** owld's own environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** OWL_MARK of a home: a hash, so that it tells nothing and has no length of its own. */
export function markOf(home: string): string {
  return createHash("sha256").update(home).digest("hex").slice(0, 24);
}

export function exitFifo(paths: HomePaths, id: string): string {
  return join(paths.run, `${id}.fifo`);
}

/** Where the files of its `secrets:` lie while it lives. */
export function secretFolder(paths: HomePaths, id: string): string {
  return join(paths.run, `${id}.secrets`);
}

function logFile(paths: HomePaths, id: string): string {
  return join(paths.logs, `${id}.log`);
}

/** The whole request for the spawner. */
export function launchRequest(facts: LaunchFacts): SpawnRequest {
  const { service, id, target, paths } = facts;
  const socket = target !== null && "socket" in target ? target.socket : null;
  const port = target !== null && "port" in target ? target.port : null;
  return {
    instance: id,
    service: service.name,
    argv: fillCommand(service.command, { port, socket, instance: id, home: paths.home }),
    cwd: service.cwd,
    ...toldTo(facts),
    ...(service.secrets === undefined
      ? {}
      : { secrets: { directory: secretFolder(paths, id), values: service.secrets } }),
    user: service.user,
    umask: service.umask,
    logFile: logFile(paths, id),
    exitFifo: exitFifo(paths, id),
  };
}

/** What it is told by the environment and what by a descriptor. */
function toldTo(facts: LaunchFacts): Pick<SpawnRequest, "env" | "handed"> {
  const whole = instanceEnv(facts);
  const { [INSTANCE_ENV.app]: handed, ...env } = whole;
  if (handed === undefined || !facts.service.bundled || !takesDescriptor(facts.service.cwd)) return { env: whole };
  return { env: { ...env, [INSTANCE_ENV.appDescriptor]: "4" }, handed };
}

/** All that an instance is told, by name; of a bundled one a part goes another way than by its environment. */
export function instanceEnv(facts: LaunchFacts): Record<string, string> {
  const { service, id, target } = facts;
  return {
    ...inheritedEnv(facts.environment),
    ...service.env,
    [INSTANCE_ENV.instance]: id,
    [INSTANCE_ENV.service]: service.name,
    [INSTANCE_ENV.release]: facts.release,
    [INSTANCE_ENV.mark]: facts.mark,
    [INSTANCE_ENV.pgApplication]: `owl/${id}`,
    ...(target !== null && "socket" in target ? { [INSTANCE_ENV.socket]: target.socket } : {}),
    ...(target !== null && "port" in target ? { [INSTANCE_ENV.port]: String(target.port) } : {}),
    ...(service.secrets === undefined ? {} : { [INSTANCE_ENV.credentials]: secretFolder(facts.paths, id) }),
    ...(service.bundled && facts.app !== null ? { [INSTANCE_ENV.app]: JSON.stringify(facts.app) } : {}),
  };
}

/** Hash of all that shapes the process: when it differs, a reload replaces the instance. */
export function configHash(service: ServiceConfig, app: AppConfig | null): string {
  const { command, cwd, env, secrets, user, umask, listen, controlGroup, bundled } = service;
  const shape = { command, cwd, env, secrets, user, umask, listen, controlGroup, app: bundled ? app : null };
  return hash(JSON.stringify(shape));
}

/** Short hashes of an environment's values, so that a change can be told without keeping a secret. */
export function envHashes(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, hash(`${name}=${value}`)]));
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
