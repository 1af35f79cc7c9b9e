// owld: reads what it was given, takes its home, runs, and turns every end into an exit code and at most two sentences.
// Exit codes: 0 orderly stop; 75 start me again (daemon-reexec); 78 not before a person changed something: configuration,
// or a standby took over; 2 wrong use; 1 anything else.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "../config/control-api.ts";
import { asError, OwlError } from "../config/errors.ts";
import { homePaths } from "../config/home.ts";
import { CODE_ROOT, loadConfig, readConfigText } from "../config/load.ts";
import { listenAddresses } from "../config/proxy-feed.ts";
import { systemClock } from "../config/system-time.ts";
import { createDaemon } from "./daemon.ts";
import { createLog } from "./observe/log.ts";
import { readArguments, USAGE } from "./process/arguments.ts";
import { closeInherited } from "./process/inherited-fds.ts";
import { beginDefinition } from "./state/begin-definition.ts";
import { makeHome, toldByDisk } from "./state/home.ts";
import { takeOwnerLock } from "./state/owner-lock.ts";
import { matchListeners, takeListenFds } from "./systemd/listen-fds.ts";
import { createSystemdNotify, takeSystemdEnvironment } from "./systemd/notify.ts";
import { endTrial } from "./updates/trial.ts";

const { version } = JSON.parse(readFileSync(join(CODE_ROOT, "package.json"), "utf8")) as { version: string };
const SAME_CTRL_C_MS = 600;
/** The state directory, once it is known. */
let home: string | null = null;

async function run(): Promise<number> {
  const asked = readArguments(process.argv.slice(2));
  if (asked.kind !== "run") {
    process.stdout.write(asked.kind === "help" ? USAGE : `${version}\n`);
    return EXIT.done;
  }
  const environment = { ...process.env };
  const systemd = takeSystemdEnvironment(environment, process.pid);
  const inherited = takeListenFds(environment, process.pid);
  closeInherited(new Set(inherited.map(({ fd }) => fd)));
  const request = { file: asked.config, env: environment, cwd: process.cwd() };
  const load = (root?: string, source?: string | null) =>
    loadConfig({ ...request, ...(root === undefined ? {} : { root }), ...(source === undefined ? {} : { source }) });
  const { config, definition } = beginDefinition(request, load);
  const paths = homePaths(config.home);
  home = paths.home;
  makeHome(paths);
  const lock = takeOwnerLock(paths.state, process.pid);
  const log = createLog(environment);
  const notify = createSystemdNotify({ systemd, clock: systemClock, log });
  const activated = matchListeners(listenAddresses(config.proxy), inherited);
  // One of an older installation does not open the address that only redirects.
  const isWhole = activated.descriptors.slice(0, config.proxy.listen.length).every((fd) => fd !== null);
  if (inherited.length > 0 && !isWhole) {
    log.warn(
      { missing: activated.missing },
      "owl.socket does not open every address of proxy.listen: owld opens them itself",
    );
  }
  const ending = Promise.withResolvers<"stop" | "reexec">();
  const onTrial = environment.OWL_TRIAL === "1";
  delete environment.OWL_TRIAL;
  const adminPassword = environment.OWL_ADMIN_PASSWORD || null;
  delete environment.OWL_ADMIN_PASSWORD;
  const daemon = createDaemon({
    config,
    definition,
    loadConfig: load,
    readConfigText: () => readConfigText(request),
    environment,
    log,
    version,
    adminPassword,
    listenFds: isWhole ? activated.descriptors.filter((fd) => fd !== null) : [],
    isSupervised: systemd.notifySocket !== null,
    reexec: () => ending.resolve("reexec"),
    beat: notify.beat,
  });
  let interruptedMs: number | null = null;
  process.on("SIGTERM", () => ending.resolve("stop"));
  process.on("SIGINT", () => {
    ending.resolve("stop");
    // A terminal and npx both send the same Ctrl-C, within milliseconds; a person's second one takes longer.
    const now = systemClock.monotonicMs();
    interruptedMs ??= now;
    if (now - interruptedMs < SAME_CTRL_C_MS) return;
    process.stderr.write("Second Ctrl-C: everything that still runs is killed now.\n");
    daemon.killAll();
  });
  process.on("SIGHUP", () => void daemon.reload());
  await daemon.start();
  // Up: the launcher counts no more, and starts us once more without watching.
  if (onTrial) {
    endTrial(paths);
    ending.resolve("reexec");
  }
  await notify.ready("Adopted and listening");
  const how = await Promise.race([ending.promise, daemon.broken]).catch(async (error: unknown) => {
    await daemon.stop();
    throw error;
  });
  if (how === "stop") await notify.stopping();
  await (how === "stop" ? daemon.stop() : daemon.letGo());
  lock.release();
  return how === "stop" ? EXIT.done : EXIT.restartMe;
}

/** The one translator of owld's failures: sentences without a stack for what a user can change, all of it for a bug. */
function explain(caught: unknown): number {
  const error = home === null ? asError(caught) : toldByDisk(home, asError(caught));
  if (!(error instanceof OwlError)) process.stderr.write(`owld: ${error.stack ?? error.message}\n`);
  else process.stderr.write(`owld: ${error.message}\n${error.next === undefined ? "" : `${error.next}\n`}`);
  const code = error instanceof OwlError ? error.code : "";
  if (code === "config.invalid" || code === "backup.replaced") return EXIT.config;
  return code === "usage" ? EXIT.usage : EXIT.failed;
}

process.exit(await run().catch(explain));
