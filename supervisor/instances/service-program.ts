// The services of owl.yaml as programs: each instance with an environment, a place to listen and a health check.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { AppConfig, Config, ServiceConfig } from "../../config/config.ts";
import type { HomePaths } from "../../config/home.ts";
import { UNHEALTHY_LIMIT_MS } from "../core/health.ts";
import type { Instance } from "../core/instance.ts";
import type { Text } from "../core/text/text.ts";
import type { ProcessTable, Spawner } from "../ports.ts";
import type { HealthWatch } from "./health.ts";
import { configHash, envHashes, instanceEnv, launchRequest, secretFolder } from "./launch.ts";
import type { Program } from "./program.ts";

interface ServiceProgramParts {
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly spawner: Spawner;
  readonly table: ProcessTable;
  readonly health: HealthWatch;
  readonly paths: HomePaths;
  /** Where sockets go: `paths.run`, or a short directory when that is too long for a socket's path. */
  readonly socketDirectory: string;
  /** Where those of that user go, when not there. Rejects when there is no such user. */
  readonly userSockets: (user: string) => Promise<string | null>;
  readonly mark: string;
  /** Version of the release new instances are started from. */
  readonly release: () => string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly config: () => Config;
  /** By what a new instance of that rollout is started. */
  readonly definitionFor: (rollout: string | null) => Config;
  readonly app: (config: Config) => AppConfig | null;
  readonly freePort: () => Promise<number>;
}

/** The program of the service `name`, whether it is (still) in the configuration or not. */
export function serviceProgram(parts: ServiceProgramParts, name: string): Program {
  const { health, paths, mark, environment } = parts;
  const service = (config: Config = parts.config()): ServiceConfig | undefined =>
    config.services.find((one) => one.name === name);

  async function placeFor(instance: Instance, { listen, user }: ServiceConfig): Promise<Instance["target"]> {
    if (listen === "port") return { host: "127.0.0.1", port: await parts.freePort() };
    cleanUp(instance);
    const own = listen === "socket" && user !== null ? await parts.userSockets(user) : null;
    return own === null ? instance.target : { socket: join(own, `${instance.id}.sock`) };
  }

  function cleanUp({ id, target }: Instance): void {
    rmSync(secretFolder(paths, id), { recursive: true, force: true });
    if (target !== null && "socket" in target) rmSync(target.socket, { force: true });
  }

  return {
    blueprint(id, rollout) {
      const config = parts.definitionFor(rollout);
      const found = service(config);
      if (found === undefined) return null;
      return {
        release: found.code?.release ?? parts.release(),
        configHash: configHash(found, parts.app(config)),
        target: found.listen === "socket" ? { socket: join(parts.socketDirectory, `${id}.sock`) } : null,
        stop: { graceMs: found.stop.graceMs, signal: found.stop.signal, after: found.stop.after },
      };
    },
    async launch(instance, note) {
      const config = parts.definitionFor(instance.rollout);
      const app = parts.app(config);
      const found = service(config);
      if (found === undefined) throw new Error(`${name} is gone from the configuration`);
      const { id, release } = instance;
      const target = await placeFor(instance, found);
      const facts = {
        service: found,
        id,
        target,
        paths,
        mark,
        release,
        app,
        environment,
      };
      const request = launchRequest(facts);
      note({ target, envHashes: envHashes(instanceEnv(facts)) });
      return await parts.spawner.spawn(request);
    },
    watch({ id, wanted }) {
      if (wanted === "up") health.watch(id);
    },
    signal(instance) {
      health.forget(instance.id);
      if (instance.identity !== null)
        parts.table.signalLeader(instance.identity, instance.stop.signal as NodeJS.Signals);
    },
    gone: ({ id }) => health.forget(id),
    cleanUp,
    isRouted: () => (service()?.routes.length ?? 0) > 0,
    graceMs: () => service()?.stop.graceMs ?? null,
    startMs(rollout) {
      const config = parts.definitionFor(rollout);
      return service(config)?.startTimeoutMs ?? config.rollout.healthTimeoutMs;
    },
    unhealthyMs: UNHEALTHY_LIMIT_MS,
    unhealthyCause: parts.record.recorded.cause.unhealthy(UNHEALTHY_LIMIT_MS / 1_000),
    lastCheck: ({ id }) => health.last(id)?.error ?? null,
    isDeaf: () => false,
    lastWords: () => null,
  };
}
