// owl.yaml + environment + defaults -> one complete, deep-frozen Config, or a ConfigError with every problem found.
// Reads files (owl.yaml, env files, secret files) and changes nothing. Priority: environment, owl.yaml, defaults.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { completeConfig } from "./complete.ts";
import type { AppConfig, Config } from "./config.ts";
import { homePaths } from "./home.ts";
import { type Environment, locateConfigFile, locateHome } from "./locate.ts";
import { readOverrides } from "./overrides.ts";
import { parseOwlYaml } from "./parse.ts";
import { noPositions } from "./positions.ts";
import { ConfigError, type ConfigProblem } from "./problems.ts";
import { brokenRelations } from "./relations.ts";
import { reasonOf } from "./secrets.ts";
import { canBecome, socketDenied } from "./switch-user.ts";

export interface LoadRequest {
  /** The file of `--config`, or null to look for it (OWL_CONFIG, ./owl.yaml). */
  readonly file?: string | null;
  readonly env: Environment;
  readonly cwd: string;
  /** The text to take for the file's, or null for no file. Absent: the file is read. */
  readonly source?: string | null;
  /** The code the bundled services run from. Default: the code this very process runs from. */
  readonly root?: string;
  /** Why services cannot run as that user, or null. Default: whether this very process could switch to it. */
  readonly userProblem?: (user: string) => string | null;
}

/** The folder the code runs from (a checkout or a release). */
export const CODE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The whole configuration, frozen. Throws ConfigError (`config.invalid`, exit 78) with all problems at once. */
export function loadConfig(request: LoadRequest): Config {
  const { env, cwd } = request;
  const problems: ConfigProblem[] = [];
  const warnings: string[] = [];
  const located = locateConfigFile(request.file ?? null, env, cwd);
  const file = located?.file ?? null;
  const name = file === null ? "owl.yaml" : shortName(file, cwd);
  const read = (): string | null => (file === null ? null : readSource(file, name));
  const source = request.source === undefined ? read() : request.source;
  const parsed =
    source === null
      ? { value: {}, positions: noPositions("owl.yaml (none)"), problems: [] }
      : parseOwlYaml(source, name);
  const overrides = readOverrides(env, problems);
  if (parsed.value === null) throw new ConfigError([...parsed.problems, ...problems]);

  const { positions } = parsed;
  const home = locateHome(env, cwd);
  const root = request.root ?? CODE_ROOT;
  const config = completeConfig(parsed.value, {
    env,
    cwd,
    file,
    home,
    root,
    node: pinnedNode(root),
    overrides,
    positions,
    problems,
    warnings,
  });
  problems.push(
    ...brokenRelations(config, {
      positions,
      checkTurn: config.bundled || parsed.value.turn !== undefined,
      runDirectory: homePaths(home).run,
    }),
  );
  // No problem: a proxy that runs keeps its certificate, and an owld that will not start supervises nothing.
  for (const key of ["cert", "key"] as const) {
    const path = config.proxy.tls?.acme === null ? config.proxy.tls[key] : undefined;
    if (path !== undefined && !existsSync(path))
      warnings.push(`${positions.of(["proxy", "tls", key])}: proxy.tls.${key}: there is no file ${path}`);
  }
  const userProblem = request.userProblem ?? canBecome;
  for (const service of config.services) {
    const noSocket =
      service.user === null || service.listen !== "socket" ? null : socketDenied(service.user, homePaths(home).run);
    if (noSocket !== null)
      warnings.push(`${positions.of(["services", service.name, "user"])}: services.${service.name}: ${noSocket}`);
    const why = service.user === null ? null : userProblem(service.user);
    if (why === null) continue;
    const where = service.bundled ? "environment OWL_SERVICES_USER" : positions.of(["services", service.name, "user"]);
    problems.push({ where, message: `services.${service.name}.user: ${why}` });
  }
  if (problems.length > 0) throw new ConfigError(unique(problems));
  return deepFreeze(config);
}

/** The text of owl.yaml, null when there is none. Throws ConfigError when it cannot be read. */
export function readConfigText({ file: flag = null, env, cwd }: LoadRequest): string | null {
  const file = locateConfigFile(flag, env, cwd)?.file ?? null;
  return file === null ? null : readSource(file, shortName(file, cwd));
}

/** The Node a release brings along, or this process's own when `root` is the code it runs from or brings none. */
export function pinnedNode(root: string): string {
  if (root === CODE_ROOT) return process.execPath;
  const own = join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin/node");
  return existsSync(own) ? own : process.execPath;
}

/** What the bundled processes get: the application part with the metastore's URL filled in, once there is one. */
export function appConfigWith(app: AppConfig | null, databaseUrl: string | null): AppConfig | null {
  return app === null || databaseUrl === null ? app : Object.freeze({ ...app, databaseUrl });
}

function readSource(file: string, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const reason = error instanceof TypeError ? "it is not UTF-8 text" : reasonOf(error);
    throw new ConfigError([{ where: name, message: `cannot read the configuration ${file}: ${reason}` }]);
  }
}

/** Relative to the working directory when the file is below it. */
function shortName(file: string, cwd: string): string {
  const short = relative(cwd, file);
  return short.startsWith("..") ? join(file) : short;
}

function unique(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ where, message }) => {
    const key = `${where} ${message}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
