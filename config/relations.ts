// Rules between values: each message names both values, where they stand, and which way they must go.
// Pure: takes the finished configuration and the places its values came from.

import type { Config } from "./config.ts";
import { nearest } from "./nearest.ts";
import type { ConfigPath, Positions } from "./positions.ts";
import type { ConfigProblem } from "./problems.ts";
import { circleOf } from "./start-order.ts";
import { formatDuration } from "./units.ts";

interface RelationContext {
  readonly positions: Positions;
  /** Whether the rule about turn budgets applies: the bundled application, or `turn` given. */
  readonly checkTurn: boolean;
  readonly runDirectory: string;
}

/** The longest path a Unix socket may have (sockaddr_un holds 108 bytes, the last one a NUL). */
const SOCKET_PATH_BYTES = 107;

/** Beyond drain and grace, for what comes after them: the database's last checkpoint, the state file. */
const STOP_MARGIN_MS = 90_000;

/**
 * The end of the chain of graces, turn.finish + turn.wrapUp < stop.grace <= an orderly stop <= TimeoutStopSec: an
 * instance may first wait until it is idle (proxy.drainTimeout), then it has its whole grace.
 */
export function stopChain(config: Config) {
  const drainTimeoutMs = config.proxy.drainTimeoutMs;
  const graceMs = Math.max(config.stop.graceMs, ...config.services.map((service) => service.stop.graceMs));
  return { drainTimeoutMs, graceMs, marginMs: STOP_MARGIN_MS, totalMs: drainTimeoutMs + graceMs + STOP_MARGIN_MS };
}

/** Every broken relation of `config`. */
export function brokenRelations(config: Config, context: RelationContext): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const say = (path: ConfigPath, message: string) => problems.push({ where: context.positions.of(path), message });
  const firstWritten = (...paths: ConfigPath[]) => paths.find((path) => context.positions.has(path)) ?? paths[0] ?? [];

  if (context.checkTurn) {
    const { finishMs, wrapUpMs } = config.turn;
    const { graceMs } = config.stop;
    if (finishMs + wrapUpMs >= graceMs) {
      const sum = `turn.finish (${formatDuration(finishMs)}) + turn.wrapUp (${formatDuration(wrapUpMs)}) = ${formatDuration(finishMs + wrapUpMs)}`;
      say(
        firstWritten(["turn", "finish"], ["turn", "wrapUp"], ["stop", "grace"]),
        `${sum} must be below stop.grace (${formatDuration(graceMs)})${elsewhere(context.positions, ["stop", "grace"])}`,
      );
    }
  }
  const { backup, home } = config;
  if (backup !== null && `${backup.directory}/`.startsWith(`${home}/`))
    say(["backup", "directory"], `backup.directory lies in the home (${home}), so it would be lost with it`);
  if (backup !== null && (backup.walEveryMs < 500 || backup.walEveryMs > 300_000))
    say(["backup", "walEvery"], "backup.walEvery must be from 500ms to 5m");
  if (backup !== null && backup.everyMs < 60_000) say(["backup", "every"], "backup.every must be at least 1m");
  const { intervalMs, stalledAfterMs } = config.heartbeat;
  if (intervalMs * 2 > stalledAfterMs) {
    say(
      firstWritten(["heartbeat", "interval"], ["heartbeat", "stalledAfter"]),
      `heartbeat.interval (${formatDuration(intervalMs)}) must be at most half of heartbeat.stalledAfter (${formatDuration(stalledAfterMs)}), or one late beat looks like a hung worker`,
    );
  }
  for (const [key, ms] of [
    ["heartbeat.interval", intervalMs],
    ["stop.grace", config.stop.graceMs],
    ["proxy.connectTimeout", config.proxy.connectTimeoutMs],
    ["turn.claim", config.turn.claimMs],
    ["turn.limit", config.turn.limitMs],
    ["rollout.healthTimeout", config.rollout.healthTimeoutMs],
  ] as const) {
    if (ms <= 0) say(key.split("."), `${key} (${formatDuration(ms)}) must be above 0s`);
  }
  for (const service of config.services.filter((one) => !one.bundled)) {
    for (const [key, ms] of [
      ["interval", service.health.intervalMs],
      ["timeout", service.health.timeoutMs],
    ] as const) {
      if (ms <= 0)
        say(
          ["services", service.name, "health", key],
          `services.${service.name}.health.${key} (${formatDuration(ms)}) must be above 0s`,
        );
    }
    if (service.startTimeoutMs === 0)
      say(["services", service.name, "start", "timeout"], `services.${service.name}.start.timeout must be above 0s`);
  }
  problems.push(...dependencyProblems(config, context.positions));
  problems.push(...routeProblems(config, context.positions), ...addressProblems(config, context.positions));
  problems.push(...socketProblems(config, context.runDirectory));
  return problems;
}

/** `, owl.yaml:9:8` when that value is written in the file, so that both ends of a relation can be found. */
function elsewhere(positions: Positions, path: ConfigPath): string {
  return positions.has(path) ? `, ${positions.of(path)}` : " (the default)";
}

function dependencyProblems({ services }: Config, positions: Positions): ConfigProblem[] {
  const names = services.map(({ name }) => name);
  const unknown = services.flatMap(({ name, dependsOn = [] }) =>
    dependsOn.flatMap((other, index): ConfigProblem[] => {
      const where = positions.of(["services", name, "depends_on", index]);
      const isTimed = services.find((one) => one.name === other)?.schedule !== undefined;
      if (isTimed)
        return [
          { where, message: `services.${name}.depends_on: ${other} runs by its schedule: nothing can wait for it` },
        ];
      if (names.includes(other)) return [];
      const near = nearest(other, names);
      return [
        {
          where,
          message: `services.${name}.depends_on: there is no service ${other}${near === null ? "" : `; did you mean ${near}?`}`,
        },
      ];
    }),
  );
  const circle = circleOf(services);
  if (circle === null) return unknown;
  const message = `services wait for each other and none could start: ${circle.join(" -> ")}`;
  return [...unknown, { where: positions.of(["services", circle[0] ?? "", "depends_on"]), message }];
}

function routeProblems(config: Config, positions: Positions): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const owner = new Map<string, string>();
  for (const service of config.services) {
    for (const [index, route] of service.routes.entries()) {
      const key = `${route.host} ${route.path}`;
      const other = owner.get(key);
      if (other === undefined) owner.set(key, service.name);
      else {
        problems.push({
          where: positions.of(["services", service.name, "routes", index]),
          message: `services.${service.name} and services.${other} both have the route host ${route.host}, path ${route.path}; one request can go to one service only`,
        });
      }
    }
  }
  return problems;
}

function addressProblems(config: Config, positions: Positions): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const { listen, tls, metrics } = config.proxy;
  const all = [
    ...listen.map((address) => ({ address, path: ["proxy", "listen"] })),
    ...(tls?.redirectFrom ? [{ address: tls.redirectFrom, path: ["proxy", "tls", "redirectFrom"] }] : []),
    ...(metrics === null ? [] : [{ address: metrics, path: ["proxy", "metrics"] }]),
  ];
  const seen = new Map<string, string>();
  for (const { address, path } of all) {
    const key = `${address.host}:${address.port}`;
    const other = seen.get(key);
    if (other !== undefined)
      problems.push({ where: positions.of(path), message: `${path.join(".")} (${key}) is already taken by ${other}` });
    else seen.set(key, path.join("."));
  }
  if (metrics !== null && !["127.0.0.1", "::1", "localhost"].includes(metrics.host)) {
    problems.push({
      where: positions.of(["proxy", "metrics"]),
      message: `proxy.metrics (${metrics.host}:${metrics.port}) must be a loopback address such as 127.0.0.1:9090: metrics are not for the public`,
    });
  }
  return problems;
}

/** The longest socket an instance of this configuration will get must fit into sockaddr_un. */
function socketProblems(config: Config, runDirectory: string): ConfigProblem[] {
  const names = ["control", ...config.services.map((service) => `${service.name}-99999`)];
  const longest = names.reduce((a, b) => (b.length > a.length ? b : a));
  const path = `${runDirectory}/${longest}.sock`;
  const bytes = Buffer.byteLength(path);
  if (bytes <= SOCKET_PATH_BYTES) return [];
  return [
    {
      where: "environment OWL_HOME",
      message: `${path} would have ${bytes} bytes, a Unix socket's path may have ${SOCKET_PATH_BYTES}; choose an OWL_HOME that is ${bytes - SOCKET_PATH_BYTES} bytes shorter (now ${config.home})`,
    },
  ];
}
