// Commands that put a process between owld and the program: npm, yarn, `sh -c`. They swallow SIGTERM, so that the
// program behind them never hears of the drain and is killed after the grace. Pure.

const PACKAGE_RUNNERS = ["npm", "npx", "yarn", "yarnpkg", "pnpm", "pnpx", "bun", "bunx", "corepack"];
const SHELLS = ["sh", "bash", "dash", "ash", "zsh", "ksh"];
/** These replace themselves by the command that follows. */
const TRANSPARENT = ["env", "nice", "ionice", "nohup", "setpriv", "chrt", "taskset", "stdbuf"];

export interface Wrapper {
  readonly kind: "packageRunner" | "shell";
  /** `npm`, `sh -c` */
  readonly name: string;
  /** For a package runner: the script of package.json it runs, or null. */
  readonly script: string | null;
}

/** The wrapper `command` begins with, or null when a signal to it reaches the program itself. */
export function findWrapper(command: readonly string[]): Wrapper | null {
  let rest = [...command];
  while (rest.length > 0 && TRANSPARENT.includes(baseName(rest[0]))) {
    const next = rest.slice(1).findIndex((word) => !word.startsWith("-") && !/^\w+=/.test(word));
    if (next < 0) return null;
    rest = rest.slice(1 + next);
  }
  const name = baseName(rest[0]);
  // `node node_modules/npm/bin/npm-cli.js start` is npm too.
  const second = baseName(rest[1]);
  if (name === "node" && /^(npm|npx|yarn|pnpm)(-cli)?\.c?js$/.test(second)) {
    return { kind: "packageRunner", name: second.split(/[-.]/)[0] ?? "npm", script: scriptOf(rest.slice(2)) };
  }
  if (PACKAGE_RUNNERS.includes(name)) return { kind: "packageRunner", name, script: scriptOf(rest.slice(1)) };
  if (!SHELLS.includes(name)) return null;
  const flag = rest.findIndex((word, index) => index > 0 && /^-[a-z]+$/.test(word) && word.includes("c"));
  const script = flag < 0 ? null : rest[flag + 1];
  if (script === null || script === undefined || endsInExec(script)) return null;
  return { kind: "shell", name: `${name} -c`, script };
}

/** The last command of the script is `exec …`: the shell becomes the program. */
function endsInExec(script: string): boolean {
  const last = script
    .split(/;|&&|\|\||\n/)
    .map((part) => part.trim())
    .filter(Boolean)
    .at(-1);
  // Behind a pipe or in the background the shell stays.
  return last !== undefined && /^(\w+=\S*\s+)*exec\s+[^|&]+$/.test(last);
}

function scriptOf(words: readonly string[]): string | null {
  const plain = words.filter((word) => !word.startsWith("-"));
  return (plain[0] === "run" || plain[0] === "run-script" ? plain[1] : plain[0]) ?? null;
}

function baseName(word = ""): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
