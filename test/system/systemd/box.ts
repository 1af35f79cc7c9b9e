// A real systemd for tests: ../shared/tools/systemd-box.sh, beside the checkout. Its root file system is made once
// (a minute or two) and kept; a reboot keeps what was installed.

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { systemClock } from "../../../config/system-time.ts";

export const PROJECT = realpathSync(new URL("../../..", import.meta.url));
const SCRIPT = join(PROJECT, "..", "shared", "tools", "systemd-box.sh");

const env = {
  BOX_DIR: process.env.BOX_DIR ?? "/tmp/owl-systemd-test",
  BOX_NODE: realpathSync(process.execPath),
  BOX_BIND: PROJECT,
  BOX_KEEP: "1",
};

/** The box's /var/tmp as this side sees it: files to hand in. */
export const SHARED = join(env.BOX_DIR, "rootfs/var/tmp");

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Boots it; throws with the script's own words when it does not come up. */
export async function boot(): Promise<void> {
  await execa(SCRIPT, ["down"], { env });
  const { exitCode, stderr } = await execa(SCRIPT, ["up"], { env, reject: false });
  if (exitCode !== 0) throw new Error(`the box did not boot: ${stderr}`);
}

export async function powerOff(): Promise<void> {
  await execa(SCRIPT, ["down"], { env, reject: false });
}

/** Runs a shell line inside, as root; never rejects. */
export async function inside(line: string): Promise<Outcome> {
  const result = await execa(SCRIPT, ["enter", "bash", "-c", line], { env, reject: false });
  return { code: result.exitCode ?? -1, out: result.stdout, err: result.stderr };
}

/**
 * Does that shell line succeed inside? Given up after 15 s: one that enters in the moment the machine goes down may never
 * come back, so nothing of it is waited for (its output goes nowhere).
 */
export async function holds(line: string): Promise<boolean> {
  const result = await execa(SCRIPT, ["enter", "bash", "-c", line], {
    env: { ...env, BOX_EXEC_TIMEOUT: "10" },
    reject: false,
    stdio: "ignore",
    timeout: 15_000,
    killSignal: "SIGKILL",
  });
  return result.exitCode === 0;
}

/** Like `inside`, throws when the line fails. */
export async function must(line: string): Promise<string> {
  const { code, out, err } = await inside(line);
  if (code !== 0) throw new Error(`${line}\nexit ${code}\n${out}\n${err}`);
  return out.trim();
}

/** Runs a JavaScript module inside with the pinned Node; answers what it prints. */
export async function node(script: string): Promise<string> {
  const result = await execa(SCRIPT, ["enter", "node", "--input-type=module", "-e", script], { env, reject: false });
  if (result.exitCode !== 0) throw new Error(`node: ${result.stdout}\n${result.stderr}`);
  return result.stdout.trim();
}

/** Polls until `look` gives something; throws naming `what` after `boundS` seconds. */
export async function until<T>(what: string, look: () => Promise<T | null | false>, boundS = 60): Promise<T> {
  for (let tries = 0; tries < boundS * 5; tries++) {
    const found = await look();
    if (found) return found;
    await systemClock.sleep(200);
  }
  const journal = await inside("journalctl -u owl -n 60 --no-pager -o cat; owlctl status");
  throw new Error(`did not happen within ${boundS} s: ${what}\n${journal.out}\n${journal.err}`);
}
