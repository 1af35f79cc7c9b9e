// An installation that loses its machine: all of it is killed, its home removed; its backups stay elsewhere.

import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Installation } from "./installation.ts";
import { markedOf, postmastersOf } from "./installation-facts.ts";
import { poll } from "./poll.ts";
import { createWebClient, type WebClient } from "./services.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** Signed in at the web instance that runs now. */
export async function signedIn(owl: Installation): Promise<WebClient> {
  const { services } = await owl.until(({ state }) => state === "steady");
  const id = services.find(({ name }) => name === "web")?.instances.find(({ state }) => state === "ready")?.id;
  const web = createWebClient(join(owl.home, `run/${id}.sock`));
  await web.signIn();
  return web;
}

/** Answers its id. */
export async function upload(web: WebClient, file: Buffer): Promise<string> {
  const { body } = await web.call("POST", "/api/uploads", { name: "a.wav", bytes: file.length });
  const done = await web.call("PATCH", `/api/uploads/${body.uploadId}`, file, { "upload-offset": "0" });
  if (done.status !== 200) throw new Error(`the upload was refused: ${done.status}`);
  return body.uploadId;
}

/** All that runs of it, at once; its home stays. */
export async function killMachine(owl: Installation): Promise<void> {
  await owl.killOwld();
  const pids = () => [...markedOf(owl.home).map(({ identity }) => identity.pid), ...postmastersOf(owl.home)];
  await poll(() => {
    const left = pids();
    for (const pid of left) process.kill(pid, "SIGKILL");
    return left.length === 0;
  });
}

export async function loseMachine(owl: Installation): Promise<void> {
  await killMachine(owl);
  // PostgreSQL's children notice a little later, and write until then.
  await poll(() => {
    rmSync(owl.home, { recursive: true, force: true, maxRetries: 5 });
    return true;
  });
}

/** `owlctl` for that home, where nothing else needs to be any more. */
export const owlctlIn = (owl: Pick<Installation, "home">, ...args: string[]) => runIn(owl.home, "ctl/owlctl", args);

/** A program of Owl's with that home, to its end. */
export function runIn(
  home: string,
  program: string,
  args: readonly string[] = [],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const env = {
    PATH: process.env.PATH ?? "",
    OWL_HOME: home,
    OWL_CONFIG: join(home, "owl.yaml"),
    OWL_LANG: "en",
  };
  return new Promise((resolve) => {
    execFile(join(ROOT, program), args, { env, cwd: tmpdir() }, (error, out, err) =>
      resolve({ code: typeof error?.code === "number" ? error.code : error ? 128 : 0, out, err }),
    );
  });
}

export const restoreMachine = (owl: Installation, directory: string) => owlctlIn(owl, "restore", directory, "--json");
