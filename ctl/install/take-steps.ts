// Takes the steps of plan.ts one by one, saying each before it is taken.

import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { OwlError } from "../../config/errors.ts";
import type { Terminal } from "../render/terminal.ts";
import type { Text } from "../text/text.ts";
import { copyCode } from "./code-copy.ts";
import type { Step } from "./plan.ts";

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Every step in order. Throws `install.step` naming the one that failed. */
export async function takeSteps(steps: readonly Step[], terminal: Terminal, text: Text): Promise<void> {
  for (const step of steps) {
    terminal.err(`  ${terminal.paintErr(await describeStep(step, text), "dim")}`);
    try {
      await take(step);
    } catch (error) {
      if (error instanceof OwlError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new OwlError("install.step", text.commands.install.stepFailed(await describeStep(step, text), why), {
        next: text.commands.install.stepNext,
        cause: error,
      });
    }
  }
}

/** One line for a step, as --dry-run prints it. */
export async function describeStep(step: Step, text: Text): Promise<string> {
  const t = text.commands.install;
  switch (step.do) {
    case "write":
      return step.keep && (await isThere(step.path)) ? t.keeps(step.path) : t.writes(step.path);
    case "copy":
      return t.copies(step.from, step.to);
    case "link":
      return t.links(step.path, step.to);
    case "remove":
      return t.removes(step.path);
    case "run":
      return t.runs(step.argv.join(" "));
  }
}

async function take(step: Step): Promise<void> {
  switch (step.do) {
    case "write": {
      if (step.keep && (await isThere(step.path))) return;
      await mkdir(dirname(step.path), { recursive: true });
      const fresh = `${step.path}.new`;
      await writeFile(fresh, step.text, { mode: step.mode });
      await chmod(fresh, step.mode);
      if (step.group !== null) await chown(fresh, 0, (await findAccount(step.group)).gid);
      return rename(fresh, step.path);
    }
    case "copy":
      await copyCode(step.from, step.to);
      return give(step.to, await findAccount(step.owner));
    case "link": {
      if ((await readlink(step.path).catch(() => null)) === step.to) return;
      const fresh = `${step.path}.new`;
      await rm(fresh, { force: true });
      await mkdir(dirname(step.path), { recursive: true });
      await symlink(step.to, fresh);
      return rename(fresh, step.path);
    }
    case "remove":
      return rm(step.path, { recursive: true, force: true });
    case "run": {
      const [command, ...args] = step.argv;
      const result = await execa(command, args, { reject: false, all: true, stdin: "ignore" });
      if (result.failed && !step.mayFail) throw new Error((result.all ?? "").trim() || result.shortMessage);
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

async function findAccount(name: string): Promise<Account> {
  for (const line of (await readFile("/etc/passwd", "utf8")).split("\n")) {
    const [found, , uid, gid] = line.split(":");
    if (found === name) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(`there is no user ${name}`);
}

async function give(dir: string, account: Account): Promise<void> {
  await chown(dir, account.uid, account.gid);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await give(path, account);
    else if (entry.isFile()) await chown(path, account.uid, account.gid);
  }
}
