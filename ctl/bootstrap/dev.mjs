// npm run dev: npm start, and on a change the smallest thing that puts it into effect: a surge restart for the
// services, daemon-reexec for the supervisor, reload for owl.yaml. Nothing in flight is lost while developing either.

import { watch } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "./control.mjs";
import { root } from "./paths.mjs";
import { say, words } from "./say.mjs";
import { runStart } from "./start.mjs";

const QUIET_MS = 300;

export function runDev(args) {
  return runStart(args, async (socket) => {
    const changed = new Map();
    for (const folder of ["services", "supervisor", "config", "migrations"]) {
      watch(join(root, folder), { recursive: true }, (_, file) => {
        if (file !== null && /\.(ts|tsx|css|sql|json)$/.test(file)) changed.set(join(folder, file), Date.now());
      }).unref();
    }
    const config = resolve(process.cwd(), process.env.OWL_CONFIG || "owl.yaml");
    try {
      watch(config, () => changed.set("owl.yaml", Date.now())).unref();
    } catch {
      // No owl.yaml: defaults, nothing to watch.
    }
    void applyChanges(socket, changed);
  });
}

async function applyChanges(socket, changed) {
  for (;;) {
    await sleep(100, undefined, { ref: false });
    if (changed.size === 0 || Date.now() - Math.max(...changed.values()) < QUIET_MS) continue;
    const files = [...changed.keys()];
    changed.clear();
    for (const [what, path, body] of actionsFor(files)) {
      await untilSteady(socket);
      say.progress(words.changed(files[0], what));
      const answer = await ask(socket, "POST", path, body);
      if (answer !== null && answer.status >= 400)
        say.problem(new Error(answer.body?.detail ?? `HTTP ${answer.status}`));
    }
  }
}

/** A rollout or a start of owld that still runs is waited for: it may be one of ours. */
async function untilSteady(socket) {
  for (let tries = 0; tries < 600; tries += 1) {
    const status = (await ask(socket, "GET", "/v1/status"))?.body;
    if (status?.state === "steady" || status?.state === "degraded") return;
    await sleep(200, undefined, { ref: false });
  }
}

const REEXEC = ["owlctl daemon-reexec", "/v1/reexec", {}];
const RESTART = ["owlctl restart", "/v1/rollouts", { kind: "restart", services: [], all: true }];
const RELOAD = ["owlctl reload", "/v1/reload", {}];

/** owld builds the pages and migrates when it starts; the services then are replaced on what it built. */
function actionsFor(files) {
  if (files.every((file) => file === "owl.yaml")) return [RELOAD];
  const built = files.some((file) => file.startsWith("services/web/pages/") || file.startsWith("migrations/"));
  const supervisor = files.some((file) => file.startsWith("supervisor/") || file.startsWith("config/"));
  const services = files.some((file) => file.startsWith("services/") || file.startsWith("config/"));
  return [...(built || supervisor ? [REEXEC] : []), ...(services || built ? [RESTART] : [])];
}
