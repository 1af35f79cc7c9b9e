// Gathers preflight's facts and has them judged. Reads only: no file, socket or row is made, changed or removed.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config, ListenAddress } from "../../config/config.ts";
import { missingProgram } from "../../config/find-program.ts";
import { loadConfig } from "../../config/load.ts";
import type { Environment } from "../../config/locate.ts";
import { ConfigError } from "../../config/problems.ts";
import type { Clock } from "../../config/time.ts";
import { judgePreflight, ofRestart, type PreflightFacts, tooSlow } from "../core/preflight.ts";
import { textOf } from "../core/text/text.ts";
import { findWrapper } from "../core/wrapper-command.ts";
import { markOf } from "../instances/launch.ts";
import type { Preflight } from "../ports.ts";
import { findGroups } from "../process/control-groups.ts";
import { readCertificate } from "./certificate.ts";
import { readDatabase } from "./database-facts.ts";
import { endpointFacts } from "./endpoints.ts";
import { portFacts } from "./listening.ts";
import { availableMemory, clockFacts, descriptorFacts, directoryFacts, diskFacts, unitFacts } from "./machine-facts.ts";
import { sourceFacts } from "./source-facts.ts";

/** A restart waits so long at most for what preflight says. */
const QUICK_MS = 1_500;

interface PreflightDeps {
  readonly clock: Clock;
  /** The configuration owld runs on. */
  config(): Config;
  /** Addresses its proxies listen on now, as text. */
  listening?(): readonly string[];
  /** Metastore URL, once the database is up. */
  databaseUrl(): string | null;
  /** owld and its proxies: what listens in them is ours. */
  ownPids(): ReadonlySet<number>;
  /** Largest measured memory of one instance; null before any was measured. */
  largestInstanceBytes(): number | null;
  /** Addresses systemd holds open for us. */
  readonly inherited?: readonly ListenAddress[];
  readonly environment: Environment;
  readonly cwd: string;
  /** Directory of the code whose migrations/ count. */
  readonly codeRoot: string;
}

/** Preflight over the living configuration. A later `run` reads everything again. */
export function createPreflight(deps: PreflightDeps): Preflight {
  return {
    async run(text = textOf(deps.config().language)) {
      return judgePreflight(await gatherFacts(deps), text);
    },
    async quick(config) {
      const late = Promise.withResolvers<null>();
      const cancel = deps.clock.after(QUICK_MS, () => late.resolve(null));
      try {
        const facts = await Promise.race([gatherFacts(deps, config), late.promise]);
        if (facts === null) return (text) => [tooSlow(text.preflight, QUICK_MS)];
        return (text) => judgePreflight(facts, text).flatMap(ofRestart);
      } finally {
        cancel();
      }
    },
  };
}

/** Everything preflight judges, read now. `quick`: what a restart by that configuration needs to know. */
async function gatherFacts(deps: PreflightDeps, quick: Config | null = null): Promise<PreflightFacts> {
  const config = quick ?? deps.config();
  const path = deps.environment.PATH ?? "";
  const database = config.usesDatabase
    ? await readDatabase(config, deps.databaseUrl(), join(deps.codeRoot, "migrations"), path, quick !== null)
    : null;
  const { tls } = config.proxy;
  const held = quick === null ? [] : (deps.listening?.() ?? []);
  const addresses = [...config.proxy.listen, ...(tls?.redirectFrom ? [tls.redirectFrom] : [])].filter(
    ({ host, port }) => !held.includes(`${host}:${port}`),
  );
  const [disk, available, descriptors, ports, directories, clock, unit, endpoints, sources, wrappers] =
    await Promise.all([
      diskFacts(config, database?.sizeBytes ?? null),
      availableMemory(),
      descriptorFacts(config),
      portFacts(addresses, deps.ownPids(), markOf(config.home), deps.inherited),
      directoryFacts(config),
      clockFacts(config, deps.codeRoot, deps.clock.now()),
      quick === null ? unitFacts(config) : null,
      quick === null ? endpointFacts(config, path, deps.clock) : [],
      quick === null ? sourceFacts(config) : [],
      wrapperFacts(config),
    ]);
  return {
    configuration: configurationFacts(deps, config),
    budgets: {
      ...config.turn,
      graceMs: config.stop.graceMs,
      apply: config.bundled,
      turnP95Ms: database?.turnP95Ms ?? null,
    },
    wrappers,
    programs: config.services.flatMap((service) => {
      const missing = missingProgram(service, path || undefined);
      return missing === null ? [] : [{ service: service.name, ...missing }];
    }),
    certificate: readCertificate(config),
    database: database?.facts ?? null,
    disk,
    memory: { availableBytes: available, largestInstanceBytes: deps.largestInstanceBytes() },
    descriptors,
    ports,
    directories,
    clock,
    unit,
    limits: limitFacts(config),
    endpoints,
    sources,
  };
}

function configurationFacts(deps: PreflightDeps, config: Config): PreflightFacts["configuration"] {
  const { file } = config;
  try {
    const fresh = loadConfig({ file, env: deps.environment, cwd: deps.cwd });
    return { file, problems: [], warnings: fresh.warnings ?? [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { file, problems: error.message.split("\n").filter(Boolean), warnings: [] };
  }
}

function limitFacts({ services }: Config): PreflightFacts["limits"] {
  const bounded = services.filter(({ controlGroup }) => controlGroup !== undefined).map(({ name }) => name);
  const found = bounded.length === 0 ? null : findGroups();
  return { services: bounded, unfit: typeof found === "string" ? found : null };
}

async function wrapperFacts(config: Config): Promise<PreflightFacts["wrappers"]> {
  const found: PreflightFacts["wrappers"][number][] = [];
  for (const service of config.services) {
    const wrapper = findWrapper(service.command);
    if (!wrapper) continue;
    const script = wrapper.kind === "packageRunner" ? await packageScript(service.cwd, wrapper.script) : null;
    found.push({ service: service.name, wrapper, scriptText: script });
  }
  return found;
}

/** What package.json says of that script: the command to write instead. */
async function packageScript(cwd: string, name: string | null): Promise<string | null> {
  if (name === null) return null;
  try {
    const { scripts } = JSON.parse(await readFile(join(cwd, "package.json"), "utf8")) as {
      scripts?: Record<string, unknown>;
    };
    const text = scripts?.[name];
    return typeof text === "string" ? text : null;
  } catch {
    return null;
  }
}
