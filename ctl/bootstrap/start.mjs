// npm start: owld in the foreground, started again when it exits with 75, Ctrl-C passed on once, its exit code ours.
// owld leads a session of its own, so that one Ctrl-C (which terminal and npm both send) reaches it exactly once.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "./control.mjs";
import { pinnedNode, root, runtimeEnv } from "./paths.mjs";
import { exitCode } from "./run.mjs";
import { say, words } from "./say.mjs";

const RESTART_ME = 75;
/** 128 + SIGKILL: nothing of what owld started has noticed. */
const KILLED = 137;
/** Terminal and npm send the same Ctrl-C within milliseconds of each other; a person takes longer. */
const SAME_CTRL_C_MS = 600;

/** Resolves with owld's exit code. `onReady(socket)` runs once everything is steady. */
export async function runStart(args, onReady = async () => {}) {
  pinnedNode();
  const signals = passSignals();
  let announced = false;
  for (let first = true; ; first = false) {
    say.progress(first ? words.starting : words.again);
    const over = new AbortController();
    const child = spawn("/bin/sh", [join(codeRoot(), "supervisor/owld"), ...args], {
      stdio: "inherit",
      env: runtimeEnv(),
      detached: true,
    });
    signals.child = child;
    const exited = new Promise((done) => {
      child.once("error", () => done(1));
      child.once("exit", (code, signal) => done(exitCode(code, signal)));
    });
    const announcing = announced ? Promise.resolve(true) : announce(child.pid, over.signal, onReady);
    const code = await exited;
    over.abort();
    announced = (await announcing) || announced;
    if (code === KILLED && !signals.asked) say.progress(words.killed);
    if (code !== RESTART_ME || signals.asked) return code;
  }
}

/**
 * The code owld runs from: the release an update made `current` in this home, unless this checkout is newer or
 * OWL_RELEASE=checkout asks for it. Looked at again at every start, for an update ends with one.
 */
function codeRoot() {
  const home = resolve(process.cwd(), process.env.OWL_HOME || ".owl");
  const link = join(home, "current");
  if (process.env.OWL_RELEASE === "checkout" || !existsSync(join(link, "supervisor/owld"))) return root;
  const current = realpathSync(link);
  if (newer(versionOf(root), versionOf(current))) return root;
  if (versionOf(root) !== versionOf(current)) say.progress(words.release(versionOf(current)));
  return current;
}

function versionOf(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
}

/** Is version `a` above `b`? By their three numbers. */
function newer(a, b) {
  const [left, right] = [a, b].map((version) => version.split(/[.+-]/).slice(0, 3).map(Number));
  const index = left.findIndex((number, at) => number !== right[at]);
  return index >= 0 && left[index] > right[index];
}

/** The first signal is handed to owld, a second Ctrl-C too (owld then kills); a closed terminal is an orderly stop. */
function passSignals() {
  const state = { child: null, asked: false };
  let askedAt = 0;
  const pass = (signal) => {
    const now = Date.now();
    if (state.asked && now - askedAt < SAME_CTRL_C_MS) return;
    if (signal === "SIGINT") say.progress(state.asked ? words.killing : words.stopping);
    state.asked = true;
    askedAt = now;
    state.child?.kill(signal === "SIGHUP" ? "SIGTERM" : signal);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, pass);
  return state;
}

/** Waits until all is steady, telling what is waited for, then prints where to go. True when it was printed. */
async function announce(pid, signal, onReady) {
  const home = resolve(process.cwd(), process.env.OWL_HOME || ".owl");
  const socket = join(home, "run/control.sock");
  let last = "";
  let degraded = false;
  for (;;) {
    const answer = (await ask(socket, "GET", "/v1/status"))?.body ?? null;
    // Another owld on this home answers too: ours is about to refuse to start, and says so itself.
    const status = answer?.pid === pid || parentOf(answer?.pid) === pid ? answer : null;
    if (signal.aborted) return false;
    if (status?.state === "steady") {
      await printReady(status, socket, home);
      await onReady(socket);
      return true;
    }
    if (status?.state === "degraded" && !degraded) {
      degraded = true;
      const short = status.services.filter((service) => service.ready < service.replicas).map(({ name }) => name);
      say.result(words.degraded(await urlOf(status, socket), shortOf(status), short[0] ?? status.services[0]?.name));
    }
    const line = status === null ? "" : waitingFor(status);
    if (line !== last && line !== "") say.progress(line);
    last = line || last;
    await sleep(150);
    if (signal.aborted) return false;
  }
}

/** While a new owld is on trial its launcher watches it as a parent. */
function parentOf(pid) {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return null;
  }
}

function waitingFor(status) {
  const services = status.services ?? [];
  if (services.length === 0 || services.every((service) => service.instances.length === 0)) return words.database;
  const short = shortOf(status);
  return short === "" ? "" : words.services(short);
}

/** What is not whole: `web 0/2, worker 1/2`. */
function shortOf(status) {
  const short = (status.services ?? []).filter((service) => service.ready < service.replicas);
  return short.map((service) => `${service.name} ${service.ready}/${service.replicas}`).join(", ");
}

async function urlOf(status, socket) {
  const config = (await ask(socket, "GET", "/v1/config"))?.body?.config ?? {};
  const scheme = config.proxy?.tls ? "https" : "http";
  const [first = ""] = status.proxy.listen;
  return `${scheme}://${first.replace(/^(0\.0\.0\.0|\[?::\]?):/, "localhost:")}`;
}

async function printReady(status, socket, home) {
  say.result("");
  say.result(words.ready(await urlOf(status, socket)));
  const password = join(home, "initial-admin-password");
  if (!process.env.OWL_ADMIN_PASSWORD && existsSync(password))
    say.result(words.account(readFileSync(password, "utf8").trim()));
  say.result(words.hints);
  say.result("");
}
