// A team's own services: an entry of owl.yaml completed to a ServiceConfig, its environment read and its secrets resolved.

import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { HealthCheck, HealthConfig, LogLimits, RouteConfig, ScheduleConfig, ServiceConfig } from "./config.ts";
import { parseCronLine } from "./cron-line.ts";
import { DEFAULTS } from "./defaults.ts";
import { parseEnvFile } from "./env-file.ts";
import type { Environment } from "./locate.ts";
import type { ConfigPath, Positions } from "./positions.ts";
import type { ConfigProblem } from "./problems.ts";
import type { OwlYamlService } from "./schema.ts";
import { fillFromEnvironment, reasonOf, resolveSecret } from "./secrets.ts";
import { formatSize } from "./units.ts";

interface ServiceContext {
  readonly env: Environment;
  /** Folder of owl.yaml: relative paths start here. */
  readonly folder: string;
  /** Something was deployed here once: then its releases hold the directories, not the source. */
  readonly isDeployed: boolean;
  readonly cwd: string;
  readonly positions: Positions;
  readonly graceMs: number;
  readonly logs: LogLimits;
  readonly defaultUser: string | null;
  readonly problems: ConfigProblem[];
  readonly warnings: string[];
}

/** One entry of `services`, completed; what is wrong goes to `context.problems`. */
export function ownService(
  name: string,
  raw: OwlYamlService,
  replicas: number,
  context: ServiceContext,
): ServiceConfig {
  const command = raw.command ?? [];
  const hasProcess = command.length > 0;
  const isSteady = hasProcess && raw.schedule === undefined;
  const answered = (raw.routes ?? []).filter(({ files }) => files === undefined);
  const listen = isSteady ? (raw.listen ?? "socket") : "none";
  const at = (...rest: (string | number)[]): ConfigPath => ["services", name, ...rest];
  const problem = (path: ConfigPath, message: string) =>
    context.problems.push({ where: context.positions.of(path), message });
  const source = resolve(context.folder, raw.source ?? ".");
  const cwd = resolve(source, raw.cwd ?? ".");
  const within = isAbsolute(raw.cwd ?? "") ? null : relative(source, cwd);
  if (within?.split("/")[0] === ".." && raw.source !== undefined)
    problem(at("cwd"), `services.${name}.cwd leads out of its source ${source}`);
  if (raw.source !== undefined && !context.isDeployed && !existsSync(source))
    problem(at("source"), `services.${name}.source: there is no directory ${source}`);
  else if (raw.cwd !== undefined && !context.isDeployed && !existsSync(cwd))
    problem(at("cwd"), `services.${name}.cwd: there is no directory ${cwd}`);
  if (!hasProcess && (answered.length > 0 || raw.routes === undefined || raw.schedule !== undefined))
    context.problems.push({
      where: context.positions.ofKey(at()),
      message: `services.${name}.command is missing; only a service whose routes all have files does without`,
    });
  if (listen === "none" && isSteady && answered.length > 0) {
    problem(
      at("routes"),
      `services.${name} has routes but listen: none; give it listen: socket or listen: port, or drop the routes`,
    );
  }
  for (const [index, route] of (raw.routes ?? []).entries()) {
    if (route.path !== undefined && !route.path.startsWith("/")) {
      problem(
        at("routes", index, "path"),
        `services.${name}.routes: a path starts with /, got ${JSON.stringify(route.path)}`,
      );
    }
    if (route.host !== undefined && !/^(\*|(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*)$/i.test(route.host)) {
      problem(
        at("routes", index, "host"),
        `services.${name}.routes: expected "*", a host name or "*.example.org", got ${JSON.stringify(route.host)}`,
      );
    }
    const files = route.files === undefined ? null : filesOf(source, route.files, route.cache);
    if (files !== null && (files.within === null || !context.isDeployed) && !existsSync(files.directory))
      problem(at("routes", index, "files"), `services.${name}.routes: there is no directory ${files.directory}`);
    if (files === null && route.cache !== undefined)
      problem(at("routes", index, "cache"), `services.${name}.routes: cache belongs to a route with files`);
  }
  const { limit = 0 } = raw.memory ?? {};
  const most = raw.controlGroup?.memoryMax;
  if (most !== undefined && most <= limit)
    problem(
      at("controlGroup", "memoryMax"),
      `services.${name}.controlGroup.memoryMax (${formatSize(most)}) must be above memory.limit (${formatSize(limit)})`,
    );
  for (const [index, word] of command.entries()) {
    if (word.includes("{port}") && listen !== "port")
      problem(at("command", index), `services.${name}.command uses {port}, which needs listen: port`);
    if (word.includes("{socket}") && listen !== "socket")
      problem(at("command", index), `services.${name}.command uses {socket}, which needs listen: socket`);
  }
  return {
    name,
    command,
    cwd,
    ...environmentOf(name, raw, context),
    ...(raw.secrets === undefined ? {} : { secrets: secretsOf(name, raw.secrets, context) }),
    user: raw.user ?? context.defaultUser,
    umask: raw.umask ?? null,
    replicas: isSteady ? replicas : 0,
    listen,
    routes: (raw.routes ?? []).map((route) => ({
      host: (route.host ?? "*").toLowerCase(),
      path: route.path ?? "/",
      bodyBytes: route.body ?? null,
      ...(route.files === undefined ? {} : { files: filesOf(source, route.files, route.cache) }),
    })),
    health: healthOf(name, raw.health, listen, context),
    stop: {
      graceMs: raw.stop?.grace ?? context.graceMs,
      signal: raw.stop?.signal ?? "SIGTERM",
      after: raw.stop?.after ?? "idle",
    },
    connections: raw.connections ?? 0,
    memoryLimitBytes: raw.memory?.limit ?? null,
    ...(raw.controlGroup === undefined ? {} : { controlGroup: controlGroupOf(raw.controlGroup) }),
    ...(raw.depends_on === undefined ? {} : { dependsOn: raw.depends_on }),
    ...(raw.start === undefined ? {} : { startTimeoutMs: raw.start.timeout }),
    ...(raw.logs === undefined ? {} : { logs: logsOf(raw.logs, context.logs) }),
    ...(raw.schedule === undefined ? {} : { schedule: scheduleOf(name, raw, context) }),
    bundled: false,
    code: { source, within: within?.startsWith("..") ? null : within, before: raw.before ?? [], release: null },
  };
}

function controlGroupOf({ cpuWeight, memoryMax }: NonNullable<OwlYamlService["controlGroup"]>) {
  return {
    ...(cpuWeight === undefined ? {} : { cpuWeight }),
    ...(memoryMax === undefined ? {} : { memoryMaxBytes: memoryMax }),
  };
}

function filesOf(source: string, files: string, cacheMs: number | undefined): NonNullable<RouteConfig["files"]> {
  const directory = resolve(source, files);
  const within = relative(source, directory);
  const isOutside = isAbsolute(files) || within.split("/")[0] === "..";
  return {
    directory,
    within: isOutside ? null : within,
    cacheS: cacheMs === undefined ? null : Math.round(cacheMs / 1_000),
  };
}

/** What only one that always runs can have. */
const ALWAYS = ["listen", "routes", "replicas", "health", "start", "depends_on", "connections"] as const;

function scheduleOf(name: string, raw: OwlYamlService, { positions, problems }: ServiceContext): ScheduleConfig {
  const { cron = "", zone = DEFAULTS.schedule.zone, overlap, missed, limit } = raw.schedule ?? {};
  const say = (path: ConfigPath, message: string) =>
    problems.push({ where: positions.of(["services", name, ...path]), message: `services.${name}${message}` });
  for (const key of ALWAYS) {
    if (raw[key] !== undefined)
      say([key], `.${key} belongs to a service that always runs; this one has a schedule, so leave ${key} out`);
  }
  const line = parseCronLine(cron, zone);
  if ("zone" in line)
    say(["schedule", "zone"], `.schedule.zone: there is no time zone ${zone}; name one as Asia/Seoul`);
  else if ("why" in line) say(["schedule", "cron"], `.schedule.cron (${JSON.stringify(cron)}): ${line.why}`);
  else if (line.next(0) === null) say(["schedule", "cron"], `.schedule.cron (${JSON.stringify(cron)}) never comes`);
  if (limit === 0) say(["schedule", "limit"], ".schedule.limit must be above 0s");
  return {
    cron,
    zone,
    overlap: overlap ?? DEFAULTS.schedule.overlap,
    missed: missed ?? DEFAULTS.schedule.missed,
    limitMs: limit ?? DEFAULTS.schedule.limitMs,
  };
}

function logsOf(raw: NonNullable<OwlYamlService["logs"]>, { sizeBytes, count }: LogLimits): LogLimits {
  return { sizeBytes: raw.size ?? sizeBytes, count: raw.count ?? count };
}

function healthOf(
  name: string,
  raw: OwlYamlService["health"],
  listen: ServiceConfig["listen"],
  context: ServiceContext,
): HealthConfig {
  const path: ConfigPath = ["services", name, "health"];
  const problem = (message: string) => context.problems.push({ where: context.positions.of(path), message });
  const given = (["http", "command", "uptime"] as const).filter((key) => raw?.[key] !== undefined);
  if (given.length > 1) problem(`services.${name}.health: one check, not ${given.join(" and ")} together`);
  if (raw?.http !== undefined && listen === "none") {
    problem(`services.${name}.health: an http check needs listen: socket or listen: port; use command or uptime`);
  }
  if (raw?.http !== undefined && !raw.http.startsWith("/"))
    problem(`services.${name}.health.http: a path starts with /, got ${JSON.stringify(raw.http)}`);
  let check: HealthCheck =
    listen === "none" ? { kind: "uptime", uptimeMs: DEFAULTS.health.uptimeMs } : { kind: "connect" };
  if (raw?.http !== undefined) check = { kind: "http", path: raw.http };
  else if (raw?.command !== undefined) check = { kind: "command", command: raw.command };
  else if (raw?.uptime !== undefined) check = { kind: "uptime", uptimeMs: raw.uptime };
  return {
    check,
    intervalMs: raw?.interval ?? DEFAULTS.health.intervalMs,
    timeoutMs: raw?.timeout ?? DEFAULTS.health.timeoutMs,
  };
}

/** envFile first, env over it. In `env`, `${NAME}` is filled in, `file:/absolute` read; `{value: …}` is kept as it is. */
function environmentOf(
  name: string,
  raw: OwlYamlService,
  context: ServiceContext,
): { env: Record<string, string>; secretEnv: readonly string[] } {
  const values: Record<string, string> = {};
  const secret = new Set<string>();
  for (const [index, file] of (raw.envFile ?? []).entries())
    Object.assign(values, readEnvFile(name, file, index, context));
  for (const key of Object.keys(values)) secret.add(key);
  for (const [key, variable] of Object.entries(raw.env ?? {})) {
    const where = context.positions.of(["services", name, "env", key]);
    if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(key)) {
      context.problems.push({
        where,
        message: `services.${name}.env: ${JSON.stringify(key)} cannot be the name of a variable`,
      });
    }
    if (/^OWL_(INSTANCE|SERVICE|RELEASE|SOCKET|MARK|APP_CONFIG|APP_CONFIG_FD)$/.test(key)) {
      context.problems.push({ where, message: `services.${name}.env: ${key} is set by Owl itself` });
    }
    secret.delete(key);
    if (variable.verbatim) {
      values[key] = variable.text;
      continue;
    }
    // Only an absolute path: `file:./dev.db` is a value many programs take themselves.
    const resolved = variable.text.startsWith("file:/")
      ? resolveSecret(variable.text, context.env, context.folder)
      : fillFromEnvironment(variable.text, context.env);
    if ("problem" in resolved)
      context.problems.push({ where, message: `services.${name}.env.${key}: ${resolved.problem}` });
    else {
      values[key] = resolved.value;
      if (resolved.value !== variable.text) secret.add(key);
    }
  }
  return { env: values, secretEnv: [...secret] };
}

/** Each value resolved; a name is that of a file. */
function secretsOf(
  name: string,
  raw: Readonly<Record<string, string>>,
  context: ServiceContext,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [key, text] of Object.entries(raw)) {
    const where = context.positions.of(["services", name, "secrets", key]);
    if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$/.test(key)) {
      const message = `services.${name}.secrets: ${JSON.stringify(key)} cannot be the name of a file`;
      context.problems.push({ where, message });
    }
    const resolved = resolveSecret(text, context.env, context.folder);
    if ("value" in resolved) values[key] = resolved.value;
    else context.problems.push({ where, message: `services.${name}.secrets.${key}: ${resolved.problem}` });
  }
  return values;
}

function readEnvFile(
  name: string,
  file: string,
  index: number,
  context: ServiceContext,
): Readonly<Record<string, string>> {
  const full = isAbsolute(file) ? file : join(context.folder, file);
  const shown = relative(context.cwd, full).startsWith("..") ? full : relative(context.cwd, full);
  let source: string;
  try {
    source = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(full));
  } catch (error) {
    const reason = error instanceof TypeError ? "it is not UTF-8 text" : reasonOf(error);
    const where = context.positions.has(["services", name, "envFile", index])
      ? ["services", name, "envFile", index]
      : ["services", name, "envFile"];
    context.problems.push({
      where: context.positions.of(where),
      message: `services.${name}.envFile: cannot read ${full}: ${reason}`,
    });
    return {};
  }
  const parsed = parseEnvFile(source);
  for (const one of parsed.problems)
    context.problems.push({ where: `${shown}:${one.line}:${one.column}`, message: one.message });
  for (const one of parsed.warnings) context.warnings.push(`${shown}:${one.line}:${one.column}: ${one.message}`);
  return parsed.values;
}

/** The folder relative paths of a configuration start from. */
export function folderOf(file: string | null, cwd: string): string {
  return file === null ? cwd : dirname(file);
}
