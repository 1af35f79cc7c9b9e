// The proxy process: `node supervisor/proxy/main.ts` with OWL_PROXY_SETTINGS. Wiring only.
// SIGTERM drains, a second one ends at once; the end of owld changes nothing.

import { readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { asError, OwlError } from "../../config/errors.ts";
import type { ProxySettings } from "../../config/proxy-feed.ts";
import { systemClock, systemRandom } from "../../config/system-time.ts";
import { descriptorLimit } from "./core/connection-cap.ts";
import { createNetEngine } from "./engine-net/engine.ts";
import { createLog } from "./log.ts";
import { createProxy } from "./proxy.ts";

const { OWL_PROXY_SETTINGS, OWL_PROXY_LISTEN_FDS, OWL_PROXY_AWAIT_TABLE, OWL_PROXY_LOAD_ONLY, ...env } = process.env;
if (OWL_PROXY_SETTINGS === undefined) {
  process.stderr.write("The proxy is started by owld, which sets OWL_PROXY_SETTINGS.\n");
  process.exit(2);
}
const settings = JSON.parse(OWL_PROXY_SETTINGS) as ProxySettings;
// A line that cannot be written, on a full disk for one, is lost; unheard, its error would end the proxy.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
const log = createLog(systemClock, settings.id, (line) => process.stderr.write(line));
const proxy = await createProxy({
  settings,
  descriptors: OWL_PROXY_LISTEN_FDS
    ? OWL_PROXY_LISTEN_FDS.split(",").map((fd) => (fd === "" ? null : Number(fd)))
    : null,
  awaitTable: OWL_PROXY_AWAIT_TABLE === "1",
  env,
  descriptorLimit: openFilesLimit(),
  pid: process.pid,
  clock: systemClock,
  random: systemRandom,
  log,
  writeAccess: (line) => process.stdout.write(line),
  createEngine: createNetEngine,
}).catch(end);
// Its code is all that was wanted: Node keeps it compiled for the next process when this one ends.
if (OWL_PROXY_LOAD_ONLY === "1") process.exit(0);
let asked = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    if (asked) proxy.stop();
    else proxy.drain();
    asked = true;
  });
}
process.on("SIGHUP", () => {});

try {
  await proxy.start();
  // A kill would lose what was compiled at this start.
  flushCompileCache();
  await proxy.stopped;
  process.exit(0);
} catch (error) {
  end(error);
}

/** owld tells these words when this was a start (proxies/launch.ts). */
function end(caught: unknown): never {
  const error = asError(caught);
  const next = error instanceof OwlError && error.next !== undefined ? { next: error.next } : {};
  log.warn({ error: error.message, ...next }, "the proxy ends");
  process.exit(1);
}

/** Node has raised the soft limit to the hard one. */
function openFilesLimit(): number | null {
  try {
    return descriptorLimit(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return null;
  }
}
