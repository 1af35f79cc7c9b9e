// Preflight's words in English. Pure.

export const preflightEn = {
  unknown: (what: string) => `${what} could not be read`,
  slow: {
    why: "A restart does not wait longer for its checks; ask for them by yourself.",
    found: (bound: string) => `the checks took longer than ${bound}`,
  },
  configuration: {
    why: "An invalid configuration would be refused at the next reload or start.",
    warningWhy: "It is accepted, but probably not what was meant.",
    valid: (file: string | null) => `${file ?? "no owl.yaml: the defaults"}, valid`,
  },
  turnBudget: {
    why: "A turn told to stop needs its finish and wrap-up within the grace, or it is cut.",
    found: (finish: string, wrapUp: string, grace: string) => `finish ${finish} + wrap-up ${wrapUp}, grace ${grace}`,
  },
  turnLength: {
    why: "Turns longer than turn.finish are wrapped up early when a worker is replaced.",
    unmeasured: "too few answered turns to tell",
    found: (p95: string, finish: string) => `95 of 100 turns end within ${p95}; turn.finish is ${finish}`,
  },
  commands: {
    why: "A wrapper swallows SIGTERM: the program behind it does not drain and is killed after the grace.",
    direct: "every service is started directly",
    edit: "$EDITOR owl.yaml && owlctl reload",
    found: (service: string, wrapper: string) => `services.${service} is started through ${wrapper}`,
    fixShell: (service: string, script: string) =>
      `Write services.${service}.command as a list, or: [sh, -c, "exec ${script}"].`,
    fixRunner: (service: string, script: string | null) =>
      script === null
        ? `Name the program itself in services.${service}.command.`
        : `Its script is: ${script}. Write that in services.${service}.command, as a list.`,
  },
  database: {
    why: "Without it no turn is accepted or ended, and no migration can run.",
    down: "it is not up",
    silent: (kind: "managed" | "external", reason: string) => `the ${kind} PostgreSQL does not answer: ${reason}`,
    answers: (kind: "managed" | "external", version: string, max: number) =>
      `the ${kind} PostgreSQL ${version} answers, max_connections ${max}`,
  },
  connections: {
    why: {
      ok: "Every instance may open all it declares, also during a rollout.",
      warn: "A rollout does not fit: it is narrowed, and what cannot be narrowed is refused before it starts.",
      fail: "Even the steady sum does not fit: a rollout or update touches no process.",
    },
    strangersWhy: "Connections of others take from the same limit.",
    sums: (steady: number, surge: number, limit: number | null) =>
      `declared: steady ${steady}, rollout ${surge}; the server grants ${limit ?? "?"}`,
    strangers: (count: number, names: string) => `${count} connections are not Owl's: ${names}`,
  },
  migrations: {
    why: "Compatible ones run beside the old code; incompatible ones need workers and web stopped.",
    none: "none pending",
    pending: (names: string, compatible: boolean) =>
      `pending (${compatible ? "compatible" : "incompatible"}): ${names}`,
  },
  dump: {
    why: "An update with incompatible migrations copies the database first, to be able to go back.",
    managed: "not needed: the managed database is copied as files",
    missing: "pg_dump was not found",
    found: (path: string, own: number, server: number) => `${path}, version ${own}; server ${server}`,
  },
  disk: {
    why: {
      release: "The next release is unpacked beside this one.",
      dump: "An update may copy the whole database.",
      logs: "Instance logs and the state file grow here; a full disk pauses rollouts.",
    },
    found: (path: string, free: string, needed: string) => `${path}: ${free} free, ${needed} wanted`,
  },
  memory: {
    why: "During a rollout one instance more runs; without room it is not started.",
    unmeasured: (available: string) => `${available} available; no instance measured yet`,
    found: (available: string, needed: string) => `${available} available, the largest instance needs ${needed}`,
  },
  descriptors: {
    why: "Each proxied connection takes two; above the limit clients are refused.",
    found: (limit: number, needed: number) => `limit ${limit}, needed ${needed}`,
  },
  clock: {
    why: "Sessions, records and TLS go by it.",
    found: (now: string) => `${now}`,
    behind: (now: string, newest: string) => `${now} is before this installation's newest file (${newest})`,
  },
  ports: {
    why: "The proxy listens here.",
    free: (address: string) => `${address} is free`,
    ours: (address: string) => `${address} is ours`,
    taken: (address: string, holder: string) => `${address} is taken by ${holder}`,
    denied: (address: string) => `${address} needs root below 1024; use owl.socket (owlctl install)`,
  },
  directories: {
    why: "Owl alone may write here: sockets, state and secrets.",
    missing: (path: string) => `${path} is not there`,
    found: (path: string, owner: string, mode: string) => `${path}: owner ${owner}, mode ${mode}`,
  },
  unit: {
    why: "systemd kills owld when a stop takes longer, and leaves its services without anyone.",
    found: (timeout: string, needed: string) => `TimeoutStopSec ${timeout}, an orderly stop may take ${needed}`,
  },
  endpoints: {
    why: { model: "Chat turns are answered by it.", transcriber: "Recordings are transcribed by it." },
    late: (boundMs: number) => `no answer within ${boundMs} ms`,
    notInPath: "not found in PATH",
    silent: (what: string, error: string) => `${what} does not answer: ${error}`,
    program: (what: string) => `${what} is there`,
    answers: (what: string, status: number, refused: boolean) =>
      `${what} answers ${status}${refused ? ": the key is refused" : ""}`,
  },
};
