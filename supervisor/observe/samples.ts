// What /metrics tells, as numbers with labels: from status, rollouts, proxy counters and the metastore's figures. Pure.
// Invariant: what is not known (no database, no rollout yet) is left out, never 0. Names never change their meaning.

import { INSTANCE_STATES, type Status, SUPERVISOR_STATES } from "../../config/control-api.ts";
import type { ProxyCounters } from "../../config/proxy-feed.ts";
import type { WorkFigures } from "../ports.ts";
import { type RolloutTotals, STEP_BOUNDS_S, type StepTotals } from "../rollouts/totals.ts";

interface MetricValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** `_bucket`, `_sum` or `_count` of a histogram. */
  readonly suffix?: string;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly values: readonly MetricValue[];
}

export interface MetricFacts {
  readonly status: Status;
  readonly rollouts: RolloutTotals;
  readonly proxy: ProxyCounters;
  readonly work: WorkFigures | null;
  /** Events since owld started, by type and service: crashes, kills and restarts among them. */
  readonly events: readonly { readonly type: string; readonly service: string; readonly count: number }[];
}

export function metricSamples(facts: MetricFacts): readonly Metric[] {
  return [
    ...serviceMetrics(facts.status),
    ...instanceMetrics(facts.status),
    ...connectionMetrics(facts.status),
    ...workerMetrics(facts.status),
    ...backupMetrics(facts.status),
    ...diskMetrics(facts.status),
    ...rolloutMetrics(facts.rollouts),
    ...proxyMetrics(facts.proxy),
    ...certificateMetrics(facts.status),
    ...upstreamMetrics(facts.proxy),
    ...workMetrics(facts.work),
    counter(
      "owl_events_total",
      "Events since owld started, by type and service.",
      facts.events.map(({ type, service, count }) => [{ type, service }, count]),
    ),
  ].filter(({ values }) => values.length > 0);
}

type Pair = readonly [Readonly<Record<string, string>>, number];

function metric(type: Metric["type"], name: string, help: string, pairs: readonly Pair[]): Metric {
  return { name, help, type, values: pairs.map(([labels, value]) => ({ labels, value })) };
}
const gauge = (name: string, help: string, pairs: readonly Pair[]): Metric => metric("gauge", name, help, pairs);
const counter = (name: string, help: string, pairs: readonly Pair[]): Metric => metric("counter", name, help, pairs);

function diskMetrics({ disks }: Status): Metric[] {
  const all = disks ?? [];
  return [
    gauge(
      "owl_disk_free_bytes",
      "Free on the disk of the home, and of backups.",
      all.map(({ path, freeBytes }) => [{ path }, freeBytes]),
    ),
    gauge(
      "owl_disk_full_in_seconds",
      "Until it is full, if it goes on as lately; absent while that is not in sight.",
      all.flatMap(({ path, fullInDays }): Pair[] => (fullInDays === null ? [] : [[{ path }, fullInDays * 86_400]])),
    ),
  ];
}

function backupMetrics({ backup }: Status): Metric[] {
  if (!backup) return [];
  const seconds = (at: string | undefined): Pair[] => (at === undefined ? [] : [[{}, Date.parse(at) / 1_000]]);
  const { last, log, drill } = backup;
  const times = (ms: number | null | undefined): Pair[] => (ms == null ? [] : [[{}, ms / 1_000]]);
  return [
    gauge("owl_backup_last_timestamp_seconds", "When the last backup ended.", seconds(last?.at)),
    gauge("owl_backup_log_timestamp_seconds", "When the database's log reached the backups last.", seconds(log?.at)),
    gauge("owl_backup_problem", "1 while something is in the way of backups.", [[{}, backup.problem === null ? 0 : 1]]),
    gauge("owl_drill_last_timestamp_seconds", "When a restore was tried out last.", seconds(drill?.at)),
    gauge("owl_drill_passed", "1 when the last drill passed.", drill === null ? [] : [[{}, drill.passed ? 1 : 0]]),
    gauge("owl_drill_rpo_seconds", "From a write to its being in the backups, as measured last.", times(drill?.rpoMs)),
    gauge("owl_drill_rto_seconds", "From nothing to a signed-in page, as measured last.", times(drill?.rtoMs)),
  ];
}

function serviceMetrics(status: Status): Metric[] {
  const each = (pick: (service: Status["services"][number]) => number): Pair[] =>
    status.services.map((service) => [{ service: service.name }, pick(service)]);
  return [
    gauge("owl_info", "Version of owld and of the current release.", [
      [{ version: status.version, release: status.release.version }, 1],
    ]),
    gauge(
      "owl_state",
      "1 for the state the supervisor is in.",
      SUPERVISOR_STATES.map((state) => [{ state }, state === status.state ? 1 : 0]),
    ),
    gauge(
      "owl_replicas",
      "Instances a service should have.",
      each(({ replicas }) => replicas),
    ),
    gauge(
      "owl_ready",
      "Instances that are ready.",
      each(({ ready }) => ready),
    ),
    gauge(
      "owl_wanted_up",
      "0 for a service that an operator stopped.",
      each((one) => (one.wanted === "up" ? 1 : 0)),
    ),
    gauge(
      "owl_crash_looping",
      "1 for a service that keeps crashing.",
      each((one) => (one.crashLooping ? 1 : 0)),
    ),
    gauge("owl_warnings", "Sentences in status that a person must know.", [[{}, status.warnings.length]]),
  ];
}

function instanceMetrics(status: Status): Metric[] {
  const instances = status.services.flatMap((service) =>
    service.instances.map((instance) => ({ labels: { service: service.name, instance: instance.id }, instance })),
  );
  const living = instances.filter(({ instance }) => instance.pid !== null);
  const each = (pick: (instance: (typeof instances)[number]["instance"]) => number): Pair[] =>
    living.map(({ labels, instance }) => [labels, pick(instance)]);
  return [
    gauge(
      "owl_instances",
      "Instances by service and state.",
      status.services.flatMap((service) =>
        INSTANCE_STATES.map((state): Pair => {
          const count = service.instances.filter((instance) => instance.state === state).length;
          return [{ service: service.name, state }, count];
        }),
      ),
    ),
    gauge(
      "owl_instance_restarts",
      "Crashes in the place of an instance.",
      each(({ restarts }) => restarts),
    ),
    gauge(
      "owl_instance_resident_bytes",
      "Memory of an instance's group.",
      each(({ rssBytes }) => rssBytes),
    ),
    gauge(
      "owl_instance_cpu_cores",
      "Cores used by an instance's group.",
      each(({ cpu }) => cpu),
    ),
    gauge(
      "owl_instance_in_flight",
      "Requests accepted and not answered.",
      each(({ inFlight }) => inFlight),
    ),
  ];
}

function connectionMetrics({ connections }: Status): Metric[] {
  if (connections === null) return [];
  const one = (name: string, help: string, value: number): Metric => gauge(name, help, [[{}, value]]);
  return [
    one("owl_connections_limit", "What PostgreSQL grants to ordinary roles.", connections.limit),
    one("owl_connections_steady", "Declared connections of all replicas.", connections.steady),
    one("owl_connections_surge", "Declared connections during a rollout.", connections.surge),
    one("owl_connections_open", "Connections open now.", connections.open),
    one("owl_connections_peak", "Most connections that were open.", connections.peak),
    gauge(
      "owl_connections_open_by_application",
      "Connections open now, by application name.",
      Object.entries(connections.byApplication ?? {}).map(([application, open]) => [{ application }, open]),
    ),
  ];
}

function workerMetrics({ workers }: Status): Metric[] {
  const all = workers ?? [];
  return [
    gauge(
      "owl_worker_heartbeat_age_seconds",
      "Since the last heartbeat, by the database's clock.",
      all.map((worker) => [{ worker: worker.id, state: worker.state }, worker.heartbeatAgeMs / 1_000]),
    ),
    gauge(
      "owl_worker_jobs",
      "Jobs a worker is at, by kind.",
      all.flatMap((worker) =>
        Object.entries(worker.jobs).map(([kind, count]): Pair => [{ worker: worker.id, kind }, count]),
      ),
    ),
  ];
}

function rolloutMetrics({ rollouts, steps }: RolloutTotals): Metric[] {
  return [
    counter(
      "owl_rollouts_total",
      "Rollouts so far, by kind and state.",
      rollouts.map(({ kind, state, count }) => [{ kind, state }, count]),
    ),
    {
      name: "owl_rollout_step_seconds",
      help: "How long the steps of rollouts took so far.",
      type: "histogram",
      values: Object.entries(steps).flatMap(([action, step]) => histogram({ action }, step)),
    },
  ];
}

function histogram(labels: Readonly<Record<string, string>>, { below, seconds, count }: StepTotals): MetricValue[] {
  return [
    ...STEP_BOUNDS_S.map((bound, index) => ({
      labels: { ...labels, le: String(bound) },
      value: below[index] ?? 0,
      suffix: "_bucket",
    })),
    { labels: { ...labels, le: "+Inf" }, value: count, suffix: "_bucket" },
    { labels, value: seconds, suffix: "_sum" },
    { labels, value: count, suffix: "_count" },
  ];
}

function proxyMetrics(proxy: ProxyCounters): Metric[] {
  return [
    counter("owl_proxy_requests_total", "Requests accepted by the proxy.", [[{}, proxy.requests]]),
    counter("owl_proxy_retries_total", "Requests that were tried on another upstream.", [[{}, proxy.retries]]),
    counter("owl_proxy_failures_total", "Answers 502, 503 and 504 of the proxy's own.", [[{}, proxy.failures]]),
    counter("owl_proxy_streams_moved_total", "Streams ended so that they return elsewhere.", [
      [{}, proxy.streamsMoved],
    ]),
    gauge("owl_proxy_in_flight", "Requests accepted and not answered, streams included.", [[{}, proxy.inFlight]]),
    gauge("owl_proxy_connections", "Client connections.", [[{}, proxy.connections]]),
    counter("owl_proxy_refused_total", "Requests refused by the proxy, by reason.", reasons(proxy.refused)),
    counter("owl_proxy_retry_reasons_total", "Why a request was retried, or not.", reasons(proxy.retryReasons)),
  ];
}

function certificateMetrics({ proxy: { certificate } }: Status): Metric[] {
  if (certificate === undefined || certificate === null) return [];
  const { until, renewal } = certificate;
  const failures = "Orders of the certificate that failed in a row.";
  return [
    ...(until === null
      ? []
      : [gauge("owl_certificate_expiry_seconds", "When it ends, in Unix time.", [[{}, Date.parse(until) / 1_000]])]),
    ...(renewal === null ? [] : [gauge("owl_certificate_order_failures", failures, [[{}, renewal.failures]])]),
  ];
}

function reasons(counts: Readonly<Record<string, number>>): Pair[] {
  return Object.entries(counts).map(([reason, count]) => [{ reason }, count]);
}

function upstreamMetrics({ upstreams }: ProxyCounters): Metric[] {
  type Upstream = ProxyCounters["upstreams"][number];
  const each = (pick: (upstream: Upstream) => number): Pair[] =>
    upstreams.map((upstream) => [{ upstream: upstream.id }, pick(upstream)]);
  return [
    counter(
      "owl_upstream_requests_total",
      "Requests sent to an upstream.",
      each(({ requests }) => requests),
    ),
    counter(
      "owl_upstream_responses_total",
      "Answers of an upstream, by class.",
      upstreams.flatMap(({ id, responses }) =>
        Object.entries(responses).map(([code, count]): Pair => [{ upstream: id, class: code }, count]),
      ),
    ),
    counter(
      "owl_upstream_connect_failures_total",
      "Connects that failed.",
      each((one) => one.connectFailures),
    ),
    counter(
      "owl_upstream_retries_total",
      "Requests that moved on to another upstream.",
      each(({ retries }) => retries),
    ),
    gauge(
      "owl_upstream_in_flight",
      "Requests at an upstream.",
      each(({ inFlight }) => inFlight),
    ),
    gauge(
      "owl_upstream_streams",
      "Event streams and tunnels at an upstream.",
      each(({ streams }) => streams),
    ),
    counter(
      "owl_upstream_received_bytes_total",
      "Bytes from clients.",
      each(({ bytesIn }) => bytesIn),
    ),
    counter(
      "owl_upstream_sent_bytes_total",
      "Bytes to clients.",
      each(({ bytesOut }) => bytesOut),
    ),
    {
      name: "owl_upstream_latency_seconds",
      help: "From a request to the head of its answer.",
      type: "histogram",
      values: upstreams.flatMap(latency),
    },
  ];
}

/** The proxy counts cumulatively by bounds in ms; it keeps no sum, so none is told. */
function latency({ id, latency: counts }: ProxyCounters["upstreams"][number]): MetricValue[] {
  const bounds = Object.keys(counts).filter((bound) => Number.isFinite(Number(bound)));
  const total = Math.max(0, ...Object.values(counts));
  return [
    ...bounds
      .toSorted((left, right) => Number(left) - Number(right))
      .map((bound) => ({
        labels: { upstream: id, le: String(Number(bound) / 1_000) },
        value: counts[bound] ?? 0,
        suffix: "_bucket",
      })),
    { labels: { upstream: id, le: "+Inf" }, value: total, suffix: "_bucket" },
    { labels: { upstream: id }, value: total, suffix: "_count" },
  ];
}

function workMetrics(work: WorkFigures | null): Metric[] {
  if (work === null) return [];
  const byKind = (counts: Readonly<Partial<Record<string, number>>>): Pair[] =>
    Object.entries(counts).map(([kind, count]) => [{ kind }, count ?? 0]);
  return [
    gauge("owl_queue_depth", "Jobs waiting for a worker, by kind.", byKind(work.queued)),
    gauge("owl_queue_oldest_seconds", "Age of the oldest waiting job, by kind.", byKind(work.oldestQueuedS)),
    counter(
      "owl_turns_total",
      "Turns that ended since owld started, by outcome and cause.",
      work.turns.map(({ outcome, cause, count }) => [{ outcome, cause }, count]),
    ),
    counter("owl_jobs_reclaimed_total", "Jobs taken back from lost workers; 0 in a normal replacement.", [
      [{}, work.reclaimed],
    ]),
  ];
}
