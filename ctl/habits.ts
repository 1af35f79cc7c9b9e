// What operators type by habit of other programs, and which command of ours does it.

const MEANT: Readonly<Record<string, string>> = {
  ps: "status",
  ls: "status",
  list: "status",
  info: "status",
  health: "status",
  htop: "top",
  stats: "top",
  monit: "top",
  up: "start",
  down: "stop",
  halt: "stop",
  shutdown: "stop --all",
  bounce: "restart",
  reboot: "restart",
  cycle: "restart",
  apply: "reload",
  replicas: "scale",
  tail: "logs",
  log: "logs",
  journal: "events",
  history: "events",
  push: "deploy",
  publish: "deploy",
  ship: "deploy",
  undo: "rollback",
  revert: "rollback",
  upgrade: "update",
  ssh: "exec",
  sh: "exec",
  shell: "exec",
  enter: "exec",
  printenv: "env",
  doctor: "preflight",
  check: "preflight",
  validate: "config check",
  explain: "why",
  describe: "why",
  inspect: "why",
  users: "user list",
};

/** The command that does what `word` does elsewhere; null: nobody knows. */
export function meantBy(word: string): string | null {
  return Object.hasOwn(MEANT, word) ? (MEANT[word] ?? null) : null;
}
