// Parsed owl.yaml + overrides -> Config: defaults filled in, secrets resolved, the bundled application built.
// After this file nobody asks for `?? default` and nobody reads the environment.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { bundledServices } from "./bundled.ts";
import { completeApp, type Reading } from "./complete-app.ts";
import { completeAuth } from "./complete-auth.ts";
import { completeNotify } from "./complete-notify.ts";
import type { BackupConfig, Config, ListenAddress, ProxyConfig, RetentionConfig } from "./config.ts";
import { DEFAULTS } from "./defaults.ts";
import { homePaths } from "./home.ts";
import { environmentLanguage } from "./language.ts";
import type { Environment } from "./locate.ts";
import type { Overrides } from "./overrides.ts";
import { folderOf, ownService } from "./own-services.ts";
import type { Positions } from "./positions.ts";
import type { ConfigProblem } from "./problems.ts";
import type { OwlYaml } from "./schema.ts";
import { resolveSecret } from "./secrets.ts";
import { inStartOrder } from "./start-order.ts";
import type { TracesConfig } from "./trace-ids.ts";

interface CompleteContext {
  readonly env: Environment;
  readonly cwd: string;
  readonly file: string | null;
  readonly home: string;
  readonly root: string;
  readonly node: string;
  readonly overrides: Overrides;
  readonly positions: Positions;
  readonly problems: ConfigProblem[];
  readonly warnings: string[];
}

const RESERVED = ["postgres", "proxy", "owld"];

/** The complete configuration; what is wrong goes to `context.problems` (the result is then not to be used). */
export function completeConfig(raw: OwlYaml, context: CompleteContext): Config {
  const { positions, problems, overrides, file, home } = context;
  const read = createReading(context);
  const stop = { graceMs: raw.stop?.grace ?? DEFAULTS.graceMs };
  const turn = {
    finishMs: raw.turn?.finish ?? DEFAULTS.turn.finishMs,
    wrapUpMs: raw.turn?.wrapUp ?? DEFAULTS.turn.wrapUpMs,
    claimMs: raw.turn?.claim ?? DEFAULTS.turn.claimMs,
    limitMs: raw.turn?.limit ?? DEFAULTS.turn.limitMs,
    onStop: raw.turn?.onStop ?? DEFAULTS.turn.onStop,
  };
  const heartbeat = {
    intervalMs: raw.heartbeat?.interval ?? DEFAULTS.heartbeat.intervalMs,
    stalledAfterMs: raw.heartbeat?.stalledAfter ?? DEFAULTS.heartbeat.stalledAfterMs,
  };
  const retention = completeRetention(raw.retention);
  const logs = {
    sizeBytes: raw.logs?.size ?? DEFAULTS.logs.sizeBytes,
    count: raw.logs?.count ?? DEFAULTS.logs.count,
  };
  const told = completeTraces(raw, read);
  const proxy = { ...completeProxy(raw.proxy, overrides, read, home), ...told };
  const bundled = raw.services === undefined;
  const language = environmentLanguage(context.env);

  checkPostgres(raw, read);
  const web = {
    replicas: (overrides.webReplicas ?? raw.web?.replicas ?? DEFAULTS.replicas) * overrides.webWorkers,
    pool: raw.web?.pool ?? DEFAULTS.pool,
    memoryLimitBytes: raw.web?.memory?.limit ?? null,
  };
  const worker = {
    replicas: overrides.workerReplicas ?? raw.worker?.replicas ?? DEFAULTS.replicas,
    pool: raw.worker?.pool ?? DEFAULTS.pool,
    memoryLimitBytes: raw.worker?.memory?.limit ?? null,
  };
  const replicasOf = (name: string, own: number | undefined) => {
    if (name === "web") return (overrides.webReplicas ?? own ?? DEFAULTS.replicas) * overrides.webWorkers;
    if (name === "worker") return overrides.workerReplicas ?? own ?? DEFAULTS.replicas;
    return own ?? 1;
  };
  if (raw.services !== undefined) checkOwn(raw, context);
  const services = bundled
    ? bundledServices({
        root: context.root,
        node: context.node,
        home,
        graceMs: stop.graceMs,
        limits: proxy.limits,
        user: overrides.servicesUser,
        web,
        worker,
      })
    : inStartOrder(
        Object.entries(raw.services ?? {}).map(([name, service]) =>
          ownService(name, service, replicasOf(name, service.replicas), {
            env: context.env,
            cwd: context.cwd,
            folder: read.folder,
            isDeployed: existsSync(homePaths(home).ownReleases),
            positions,
            graceMs: stop.graceMs,
            logs,
            defaultUser: overrides.servicesUser,
            problems,
            warnings: context.warnings,
          }),
        ),
      );
  const database =
    raw.database === undefined
      ? null
      : { url: read.url(["database", "url"], raw.database.url, ["postgres", "postgresql"]) };

  return {
    file,
    home,
    language,
    proxy,
    database,
    postgres: {
      maxConnections: raw.postgres?.maxConnections ?? DEFAULTS.postgres.maxConnections,
      settings: raw.postgres?.settings ?? {},
      binaries: raw.postgres?.binaries ?? DEFAULTS.postgres.binaries,
    },
    usesDatabase: bundled || raw.database !== undefined || raw.postgres !== undefined,
    stop,
    turn,
    backup: completeBackup(raw.backup, read.folder),
    notify: completeNotify(raw, read),
    rollout: {
      healthTimeoutMs: raw.rollout?.healthTimeout ?? DEFAULTS.rollout.healthTimeoutMs,
      surge: raw.rollout?.surge ?? DEFAULTS.rollout.surge,
      confirmMs: raw.rollout?.confirm ?? DEFAULTS.rollout.confirmMs,
      updateConfirmMs: raw.rollout?.confirm ?? DEFAULTS.rollout.updateConfirmMs,
      worse: {
        errorShare: raw.rollout?.worse?.errors ?? DEFAULTS.worse.errorShare,
        p95Factor: raw.rollout?.worse?.p95 ?? DEFAULTS.worse.p95Factor,
      },
    },
    deploy: {
      keep: raw.deploy?.keep ?? DEFAULTS.deploy.keep,
      sizeBytes: raw.deploy?.size ?? DEFAULTS.deploy.sizeBytes,
      beforeMs: raw.deploy?.beforeTimeout ?? DEFAULTS.deploy.beforeMs,
      share: {
        part: raw.deploy?.share ?? DEFAULTS.deploy.share.part,
        ms: raw.deploy?.shareFor ?? DEFAULTS.deploy.share.ms,
      },
    },
    logs,
    retention,
    heartbeat,
    bundled,
    services,
    app: bundled
      ? completeApp(raw, read, {
          language,
          databaseUrl: database?.url ?? null,
          turn,
          graceMs: stop.graceMs,
          heartbeat,
          retention,
          uploadsDir: homePaths(home).uploads,
          uploadBytes: proxy.limits.uploadBytes,
          secureCookies: proxy.tls !== null,
          ...completeAuth(raw, read),
          ...told,
        })
      : null,
    warnings: context.warnings,
  };
}

function createReading({ env, cwd, file, positions, problems }: CompleteContext): Reading {
  const folder = folderOf(file, cwd);
  const read: Reading = {
    folder,
    say: (path, message) => problems.push({ where: positions.of(path), message }),
    secret(path, text) {
      const resolved = resolveSecret(text, env, folder);
      if ("value" in resolved) return resolved.value;
      read.say(path, `${path.join(".")}: ${resolved.problem}`);
      return "";
    },
    url(path, text, protocols) {
      const value = read.secret(path, text);
      if (value === "") return value;
      // A database on a Unix socket has no host: postgres://user@/name?host=/run/postgresql.
      const protocol = URL.parse(value.replace("@/", "@localhost/"))?.protocol.slice(0, -1) ?? null;
      if (protocol === null || !protocols.includes(protocol)) {
        const expected = protocols.map((one) => `${one}://`).join(" or ");
        read.say(path, `${path.join(".")}: expected a URL beginning with ${expected}`);
      }
      return value;
    },
  };
  return read;
}

function checkPostgres(raw: OwlYaml, read: Reading): void {
  if (raw.database !== undefined && raw.postgres !== undefined) {
    read.say(
      ["postgres"],
      "postgres tunes the server Owl manages, but database.url names another one; drop one of the two",
    );
  }
  for (const key of Object.keys(raw.postgres?.settings ?? {})) {
    const instead = {
      max_connections: "postgres.maxConnections",
      data_directory: null,
      hba_file: null,
      port: null,
      unix_socket_directories: null,
    }[key];
    if (instead !== undefined)
      read.say(
        ["postgres", "settings", key],
        `postgres.settings.${key} is Owl's own${instead === null ? "" : `; use ${instead}`}`,
      );
  }
}

function completeBackup(raw: OwlYaml["backup"], folder: string): BackupConfig | null {
  if (raw === undefined) return null;
  const { directory, every, walEvery, keep, encrypt, command, bandwidth, drill } = raw;
  const given = Object.entries(keep ?? {}).filter(([, count]) => count !== undefined);
  return {
    directory: resolve(folder, directory),
    everyMs: every ?? DEFAULTS.backup.everyMs,
    walEveryMs: walEvery ?? DEFAULTS.backup.walEveryMs,
    keep: { ...DEFAULTS.backup.keep, ...Object.fromEntries(given) },
    passphraseFile: encrypt === undefined ? null : resolve(folder, encrypt.passphraseFile),
    command: command ?? null,
    bandwidthBytesPerS: bandwidth ?? DEFAULTS.backup.bandwidthBytesPerS,
    drillEveryMs: drill === undefined ? DEFAULTS.backup.drillEveryMs : drill,
  };
}

function completeRetention(raw: OwlYaml["retention"]): RetentionConfig {
  const { rollouts = DEFAULTS.retention.rollouts, ...asked } = raw ?? {};
  const given = Object.entries(asked).filter(([, ms]) => ms !== undefined);
  return { ...DEFAULTS.retention, ...Object.fromEntries(given.map(([key, ms]) => [`${key}Ms`, ms])), rollouts };
}

/** Names of a team's services, and sections that then have no meaning. */
function checkOwn(raw: OwlYaml, context: CompleteContext): void {
  const names = Object.keys(raw.services ?? {});
  if (names.length === 0) {
    context.problems.push({
      where: context.positions.of(["services"]),
      message: "services is empty: name at least one service, or leave the key out to run the bundled application",
    });
  }
  for (const name of names) {
    const where = context.positions.ofKey(["services", name]);
    if (RESERVED.includes(name))
      context.problems.push({
        where,
        message: `services.${name}: ${RESERVED.join(", ")} are names of Owl's own parts`,
      });
    else if (!/^[a-z][a-z0-9-]{0,31}$/.test(name) || /-\d+$/.test(name)) {
      const rule =
        "small letters, digits and -, beginning with a letter, at most 32, not ending in -NUMBER (instances are called web-7)";
      context.problems.push({ where, message: `services.${name}: a service's name is ${rule}` });
    }
  }
  for (const key of [
    "web",
    "worker",
    "model",
    "models",
    "budget",
    "chat",
    "transcription",
    "archive",
    "dataSources",
    "limits",
    "tools",
    "mail",
    "auth",
  ] as const) {
    if (raw[key] === undefined || (key === "mail" && raw.notify?.mail !== undefined)) continue;
    context.warnings.push(
      `${context.positions.ofKey([key])}: ${key} belongs to the bundled application, which does not run beside services of your own; it has no effect`,
    );
  }
}

function completeProxy(raw: OwlYaml["proxy"], overrides: Overrides, read: Reading, home: string): ProxyConfig {
  const usual = raw?.tls?.acme === undefined ? DEFAULTS.listen : DEFAULTS.acme.listen;
  const [first, ...others] = raw?.listen ?? [usual];
  const listen: ListenAddress[] = [
    { host: first?.host ?? usual.host, port: overrides.port ?? first?.port ?? usual.port },
    ...others,
  ];
  return {
    listen,
    processes: raw?.processes ?? DEFAULTS.proxy.processes,
    connectTimeoutMs: raw?.connectTimeout ?? DEFAULTS.proxy.connectTimeoutMs,
    queueTimeoutMs: raw?.queueTimeout ?? DEFAULTS.proxy.queueTimeoutMs,
    drainTimeoutMs: raw?.drainTimeout ?? DEFAULTS.proxy.drainTimeoutMs,
    tls: raw?.tls === undefined ? null : completeTls(raw.tls, listen, read, home),
    limits: {
      headerBytes: raw?.limits?.header ?? DEFAULTS.limits.headerBytes,
      headerTimeoutMs: raw?.limits?.headerTimeout ?? DEFAULTS.limits.headerTimeoutMs,
      idleTimeoutMs: raw?.limits?.idleTimeout ?? DEFAULTS.limits.idleTimeoutMs,
      connections: raw?.limits?.connections ?? DEFAULTS.limits.connections,
      bodyBytes: raw?.limits?.body ?? DEFAULTS.limits.bodyBytes,
      uploadBytes: raw?.limits?.upload ?? DEFAULTS.limits.uploadBytes,
      bodyBytesPerS: raw?.limits?.bodyRate ?? DEFAULTS.limits.bodyBytesPerS,
    },
    metrics: raw?.metrics ?? null,
    trust: raw?.trust ?? [],
    accessLog: raw?.accessLog ?? false,
    compress: raw?.compress ?? false,
  };
}

/** Nothing secret may be in it: the proxies' configuration is kept with their record. */
function completeTraces({ telemetry }: OwlYaml, { say, url }: Reading): { readonly traces?: TracesConfig } {
  if (telemetry === undefined) return {};
  const { traces, share = DEFAULTS.tracesShare } = telemetry;
  if (traces === undefined) {
    say(["telemetry"], "telemetry.traces is missing: the URL of a collector, such as http://127.0.0.1:4318/v1/traces");
    return {};
  }
  const read = url(["telemetry", "traces"], traces, ["http", "https"]);
  if (URL.canParse(read) && new URL(read).password !== "")
    say(["telemetry", "traces"], "telemetry.traces holds a password; give it to a collector on this machine instead");
  return { traces: { url: read, share } };
}

type RawTls = NonNullable<NonNullable<OwlYaml["proxy"]>["tls"]>;

function completeTls(
  raw: RawTls,
  listen: readonly ListenAddress[],
  { folder, say }: Reading,
  home: string,
): ProxyConfig["tls"] {
  const { acme, cert, key, redirectFrom, hsts, http2 } = raw;
  const at = ["proxy", "tls"];
  if (acme === undefined && (cert === undefined || key === undefined))
    say(at, "proxy.tls needs cert and key, or acme: {domains: [owl.example.org], email: admin@example.org}");
  if (acme !== undefined && (cert !== undefined || key !== undefined))
    say(at, "proxy.tls has cert and key of a certificate of its own, or acme; not both");
  if (acme !== undefined && acme.dns === undefined && acme.domains.some((name) => name.startsWith("*.")))
    say([...at, "acme", "domains"], "proxy.tls.acme.domains: a wildcard needs proxy.tls.acme.dns.command");
  if (acme?.directory !== undefined && URL.parse(acme.directory)?.protocol !== "https:")
    say([...at, "acme", "directory"], "proxy.tls.acme.directory: expected a URL beginning with https://");
  const served = homePaths(home).certificate;
  // Whoever serves the web's own port is asked at its plain one too.
  const usual = acme !== undefined && listen[0]?.port === DEFAULTS.acme.listen.port ? DEFAULTS.acme.redirectFrom : null;
  return {
    cert: acme !== undefined || cert === undefined ? served : resolve(folder, cert),
    key: acme !== undefined || key === undefined ? served : resolve(folder, key),
    acme:
      acme === undefined
        ? null
        : {
            domains: [...new Set(acme.domains)],
            email: acme.email,
            directory: acme.directory ?? DEFAULTS.acme.directory,
            dnsCommand: acme.dns?.command ?? null,
          },
    redirectFrom: redirectFrom ?? usual,
    hstsMaxAgeS: hsts === undefined ? DEFAULTS.proxy.hstsMaxAgeS : Math.round(hsts / 1_000),
    http2: http2 ?? DEFAULTS.proxy.http2,
  };
}
