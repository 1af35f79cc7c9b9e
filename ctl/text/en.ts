// Everything owlctl says, in English; ko.ts says the same in Korean (the compiler refuses a missing line).

export interface Known {
  readonly sentence: string;
  readonly next: string | null;
}

type Data = Readonly<Record<string, unknown>>;

export const en = {
  help: {
    program: "Watch and steer owld: services, rollouts, logs, configuration.",
    programAfter:
      "Exit codes: 0 done, 1 it ran and failed, 2 wrong use, 3 owld not reachable, 4 another rollout runs,\n" +
      "5 --timeout passed (the work goes on), 10 --plan: there are changes, 78 configuration invalid, 130 Ctrl-C.\n" +
      "owld is found by --socket, OWL_CONTROL_SOCKET, OWL_HOME/run, ./.owl/run, /run/owl, in this order.",
    socket: "control socket of owld",
    version: "version of owlctl",
    help: "show this help",
    helpCommand: "help on a command",
    json: "JSON on standard output",
    timeout: "stop watching after this long (30s, 10m); the work goes on",
    detach: "do not watch: return at once with the rollout's id",
    target: "a service or an instance (web, web-7)",
    yes: "do not ask",
  },
  examples: (lines: readonly string[]) => `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`,
  commands: {
    status: {
      about: "services, instances, proxy, connections, workers, rollout",
      watch: "a live view (Ctrl-C ends it)",
    },
    why: { about: "why a service or an instance is as it is, on one screen" },
    logs: {
      about: "logs of instances",
      follow: "go on with new lines",
      lines: "the last N lines (default 50)",
      since: "lines of the last 10m, 2h, ...",
      grep: "only lines that match",
    },
    events: {
      about: "every change of state",
      follow: "go on with new events",
      lines: "the last N events (default 100)",
    },
    restart: {
      about: "replace instances one by one, new first, without losing a request",
      service: "services to restart (default: all)",
      all: "also those that the last rollout, which did not succeed, already replaced",
      plan: "only show the steps, the time and the peaks (exit 10: there are changes)",
      wait: "serving: until every new instance is routed; drained: until every old one has ended",
    },
    rollout: {
      about: "the record of rollouts, and the one that runs",
      list: "all rollouts, newest first",
      show: "one rollout with its steps",
      watch: "watch a rollout to its end",
      cancel: "end a rollout after its current step",
      id: "id of a rollout (r-12)",
      idOrRunning: "id of a rollout (default: the one that runs)",
    },
    reload: { about: "read the configuration again; only what changed is replaced" },
    scale: { about: "change the number of instances", pairs: "web=3 worker=2" },
    start: { about: "start a stopped service or instance" },
    stop: { about: "stop a service or an instance, with its whole grace" },
    kill: {
      about: "SIGKILL an instance and its whole process group, now",
      instance: "an instance (web-7)",
      costRequests: (n: number) => `${n} request(s) in flight will fail.`,
      costJobs: (jobs: string) => `Running jobs will be cut: ${jobs}.`,
      confirm: (instance: string) => `Kill ${instance} without its grace?`,
      kept: "Nothing was killed.",
      done: (instance: string) => `${instance} killed.`,
    },
    reexec: {
      about: "put the supervisor itself on new code; everything else runs on",
      done: (before: number, after: number, version: string) =>
        `owld is back: pid ${before} is now ${after}, version ${version}.`,
      notBack: "owld has not come back yet.",
      notBackNext: "Look at it: owlctl status, or journalctl -u owl",
    },
    preflight: {
      about: "check everything an update or restart needs; reads only",
      sum: (ok: number, warn: number, fail: number) => `${ok} OK, ${warn} WARN, ${fail} FAIL`,
    },
    config: {
      about: "check, show, describe the configuration",
      check: "check a configuration without using it",
      show: "the whole configuration with defaults, secrets hidden",
      schema: "JSON Schema of owl.yaml, for editors",
      file: "default: OWL_CONFIG, ./owl.yaml",
      noFile: "no owl.yaml, defaults",
      fromDaemon: "as owld runs it",
      fromFile: "as owld would load it (owld is not running)",
    },
    batch: {
      about: "transcribe an archive: plan, start, watch",
      plan: "what would run, nothing written",
      start: "start it",
      list: "all batches",
      show: "one batch",
      watch: "progress of a batch to its end (Ctrl-C ends the watching only)",
      cancel: "cancel what has not run",
      retry: "run the failed items again",
      path: "folder below archive.roots",
      id: "id of a batch",
      user: "account it belongs to (default: admin)",
      started: (id: string) => `Batch ${id} runs. Watch it: owlctl batch watch ${id}`,
      asked: (id: string) => `Asked for batch ${id}.`,
      planned: (items: number, skipped: number, time: string) =>
        `${items} recordings, ${skipped} skipped, about ${time}`,
      skipped: (path: string, reason: string) => `skipped ${path}: ${reason}`,
      none: "No batches yet.",
      columns: ["ID", "STATE", "DONE", "FAILED", "QUEUED", "RUNNING", "PROGRESS", "LEFT"],
      line: (state: string, done: number, total: number, failed: number) =>
        `${state}: ${done} of ${total} done, ${failed} failed`,
      left: (time: string) => `about ${time} left`,
      interrupted: (id: string) => `Batch ${id} goes on. Watch it again: owlctl batch watch ${id}`,
    },
    turns: {
      about: "measured lengths of turns: p50, p95, p99",
      none: "No turns have ended in that time.",
      since: "of the last 24h, 7d, ... (default 7d)",
      columns: ["OUTCOME", "TURNS", "P50", "P95", "P99", "LONGEST"],
      advice: (p95: string, finish: string) => `p95 of answered turns is ${p95}; turn.finish is ${finish}.`,
      above:
        "p95 is above turn.finish: a restart cuts more than one turn in twenty. Raise turn.finish (and stop.grace).",
    },
    user: {
      about: "accounts of the bundled application",
      add: "add an account; its one-time password is printed",
      list: "all accounts",
      passwd: "give an account a new one-time password",
      disable: "disable an account and end its sessions",
      name: "name of the account",
      admin: "may see administration pages and approve updates",
      stdin: "read the password from standard input instead of making one",
      added: (name: string) => `Account ${name} added.`,
      changed: (name: string) => `Password of ${name} changed; its sessions are ended.`,
      password: (password: string) => `One-time password: ${password}`,
      disabled: (name: string) => `Account ${name} disabled; its sessions are ended.`,
      columns: ["NAME", "ROLE", "STATE", "CREATED"],
      roles: { admin: "administrator", user: "user" },
      states: { active: "active", disabled: "disabled" },
    },
    completion: { about: "completion script for bash, zsh or fish" },
    version: { about: "versions of owlctl and owld", noDaemon: "owld is not running (or not reachable)" },
  },
  states: { starting: "starting", steady: "steady", rolling: "rolling", degraded: "degraded", stopping: "stopping" },
  instanceStates: {
    starting: "starting",
    ready: "ready",
    unhealthy: "unhealthy",
    draining: "draining",
    stopping: "stopping",
    backoff: "backoff",
    exited: "exited",
  },
  workerStates: { active: "active", draining: "draining", stalled: "stalled" },
  status: {
    pid: "pid",
    up: "up",
    release: "release",
    proxy: "proxy",
    proxyFigures: (p: { inFlight: number; requests: number; retries: number; failures: number }) =>
      `${p.inFlight} in flight, ${p.requests} requests, ${p.retries} retried, ${p.failures} failed`,
    columns: {
      service: "SERVICE",
      instance: "INSTANCE",
      state: "STATE",
      pid: "PID",
      up: "UP",
      inFlight: "IN FLIGHT",
      memory: "MEMORY",
      cpu: "CPU",
      restarts: "RESTARTS",
      lastExit: "LAST EXIT",
    },
    stoppedFlag: "(stopped)",
    crashLooping: "CRASH-LOOPING",
    connections: "connections",
    connectionFigures: (c: {
      open: number;
      peak: number;
      steady: number;
      surge: number;
      limit: number;
      maxConnections: number;
    }) =>
      `${c.open} open, peak ${c.peak}; declared ${c.steady} steady, ${c.surge} in a rollout; limit ${c.limit} of ${c.maxConnections}`,
    strangers: (list: string) => `not Owl's: ${list}`,
    workers: "workers",
    noWorkers: "none registered",
    heartbeat: (ago: string) => `heartbeat ${ago} ago`,
    noJobs: "idle",
    ago: (time: string) => `${time} ago`,
    exitUnknown: "unknown",
    exitCode: (code: number) => `code ${code}`,
    outOfMemory: "likely out of memory",
  },
  rollout: {
    kinds: { restart: "restart", update: "update", rollback: "rollback" },
    states: { running: "running", succeeded: "succeeded", failed: "failed", cancelled: "cancelled" },
    stepStates: { waiting: "waiting", running: "running", done: "done", failed: "failed", skipped: "skipped" },
    events: {
      starting: "starting",
      ready: "ready",
      routed: "routed",
      draining: "draining",
      stopped: "stopped",
      killed: "killed",
      failed: "failed",
    },
    action: (name: string) => name,
    expected: (expected: string, worst: string) => `expected ${expected}, at most ${worst}`,
    steps: (done: number, all: number) => `step ${done} of ${all}`,
    took: (time: string) => `after ${time}`,
    serving: "serving; old instances still drain",
    detached: (id: string) => `${id} runs. Watch it: owlctl rollout watch ${id}`,
    cancelAsked: (id: string) => `${id} ends after its current step.`,
    none: "No rollouts yet.",
    columns: ["ID", "KIND", "STATE", "STARTED", "TOOK", "REASON"],
    stepColumns: ["#", "SERVICE", "STEP", "INSTANCE", "STATE", "STARTED", "TOOK"],
  },
  ledger: {
    requestsFailed: (n: number) => `requests failed ${n}`,
    retriedAtConnect: (n: number) => `retried at connect ${n}`,
    drainedInFlight: (n: number) => `drained in flight ${n}`,
    longestDrain: (time: string) => `longest drain ${time}`,
    streamsMoved: (n: number) => `streams moved ${n}`,
    jobsFinished: (n: number) => `jobs finished ${n}`,
    jobsHandedBack: (n: number) => `jobs handed back ${n}`,
    jobsCut: (n: number) => `jobs cut ${n}`,
    jobsReclaimed: (n: number) => `jobs reclaimed ${n}`,
    killed: (n: number) => `killed ${n}`,
  },
  plan: {
    nothing: "Nothing to do.",
    service: "SERVICE",
    action: "STEP",
    instance: "INSTANCE",
    time: (expected: string, worst: string) => `Expected ${expected}, at most ${worst}.`,
    connections: (peak: number, limit: number | null) =>
      `Peak connections ${peak}${limit === null ? "" : ` of ${limit}`}.`,
    memory: (peak: string) => `Peak memory ${peak}.`,
  },
  change: { nothing: "Nothing to do.", done: "Done." },
  why: {
    wantedDown: "stopped by a person",
    process: "process",
    lastExit: "last exit",
    lastProbe: "last check",
    passed: "passed",
    failed: "failed",
    heartbeat: "heartbeat",
    backoff: "backoff",
    backoffFigures: (attempt: number, delay: string, next: string) => `try ${attempt}, waits ${delay}, next in ${next}`,
    restarts: "restarts",
    leftOver: "left over",
    changedEnv: "environment changed since it started",
    log: "last lines of its log",
  },
  watch: {
    gone: "owld is away; waiting for it (the work goes on) ...",
    back: "owld is back; watching on.",
    quit: "Ctrl-C ends the view",
    interrupted: (id: string) => `${id} goes on. Watch it again: owlctl rollout watch ${id}`,
  },
  errors: {
    internal: (message: string) => `owlctl itself failed: ${message}`,
    internalNext: "Run it again with OWL_DEBUG=1 for the details.",
    duration: (value: string) => `Expected a duration such as 30s or 10m, got ${JSON.stringify(value)}.`,
    count: (value: string, least: number) => `Expected a whole number from ${least}, got ${JSON.stringify(value)}.`,
    pair: (value: string) => `Expected SERVICE=NUMBER such as web=3, got ${JSON.stringify(value)}.`,
    shell: (value: string) => `Expected bash, zsh or fish, got ${JSON.stringify(value)}.`,
    grep: (value: string) => `${JSON.stringify(value)} is not a regular expression.`,
    noRollout: "There has been no rollout yet.",
    noRolloutNext: "Start one: owlctl restart",
    noneRuns: "No rollout runs.",
    noneRunsNext: "See those that ended: owlctl rollout list",
  },
  /** Sentences for codes whose error this program words itself (with the data that came along). */
  byCode: {
    "daemon.unreachable": (data: Data): Known => ({
      sentence: `owld is not reachable on ${data.socket} (${data.reason}; found by ${data.by}).`,
      next: "Start it with npm start or systemctl start owl, or name its socket with --socket PATH.",
    }),
    "daemon.denied": (data: Data): Known => ({
      sentence: `You may not use ${data.socket}: it belongs to its owner and group.`,
      next: "Use sudo, or join the group: sudo usermod -aG owl $USER (and sign in again).",
    }),
    "daemon.gone": (): Known => ({
      sentence: "owld went away in the middle of its answer.",
      next: "See whether it is back: owlctl status",
    }),
    "watch.timeout": (data: Data): Known | null =>
      data.rollout === undefined
        ? null
        : {
            sentence: `${data.rollout} still runs after the time you gave it; it goes on.`,
            next: `Watch it: owlctl rollout watch ${data.rollout}`,
          },
  } as Readonly<Record<string, ((data: Data) => Known | null) | undefined>>,
};

export type Text = typeof en;
