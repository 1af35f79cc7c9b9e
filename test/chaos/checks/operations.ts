// The operator in a chaos run: owlctl commands at their planned times, whatever else goes on. A rollout that nothing
// disturbed must succeed; an update to a broken release must not, whatever happens. One of these closes the pages, copies
// the database, changes it and puts the copy back: of what was accepted before nothing may be lost by that.

import type { Status } from "../../../config/control-api.ts";
import { systemClock } from "../../../config/system-time.ts";
import type { Disturbances, Disturbed } from "../disturbances.ts";
import { type OperationName, UPDATES } from "../plan/schedule.ts";
import type { Product } from "../product.ts";
import type { ChaosReleases } from "../releases.ts";
import type { Timeline } from "../timeline.ts";

export interface OperateDeps {
  readonly product: Product;
  readonly timeline: Timeline;
  readonly disturbances: Disturbances;
  /** null: no update is ever planned. */
  readonly releases: Omit<ChaosReleases, "remove"> | null;
}

const ROLLOUT = ["--json", "--timeout", "180s"];

/** May end so: done, failed for a reason, not reachable, busy, late. Anything else is a crash of owlctl itself. */
const EXPECTED_CODES = [0, 1, 3, 4, 5];
const BUSY = 4;
const UPDATE_MS = 240_000;
/** Longer than any run: a window closed by so much touches nothing. */
const NEVER_MS = 86_400_000;
/** What an operation may fail of. */
const CAUSES: readonly Disturbed[] = ["requests", "inFlight", "worker", "database", "supervisor", "replicas"];
/** Refusals that are right: there is nothing to go back to, or that release runs (another update went there first). */
const REFUSED = /No release ran here before|is what runs already/;

export async function operate(deps: OperateDeps, name: OperationName): Promise<void> {
  const { product, timeline, disturbances } = deps;
  const words = await wordsOf(deps, name);
  if (words === null) return timeline.note(`operation ${name} left out: owld does not answer`);
  const from = systemClock.now();
  timeline.note(`operation ${name}`, { words: words.filter((word) => !ROLLOUT.includes(word)).join(" ") });
  const before = disturbances.all.length;
  const isUpdate = UPDATES.some((one) => one === name);
  const close = disturbances.open(excusedBy(name), name);
  const closeBack = disturbances.open(isUpdate ? ["turnedBack"] : [], name);
  // Its own windows are no excuse for itself.
  const own = disturbances.all.slice(before);
  const opened = name === "update-closed" ? whileClosed(deps) : null;
  const { code, stdout, stderr } = await product.ctl(...words);
  const until = systemClock.now();
  const tookMs = until - from;
  timeline.note(`operation ${name} ended`, {
    code,
    tookMs,
    ...(code === 0 ? {} : { stderr: stderr.slice(-300), reason: reasonOf(stdout) }),
  });
  // Nothing was done, so nothing is excused. An update goes on when owlctl has lost sight of it: until it is over.
  if (isUpdate && code !== BUSY) await untilOver(product);
  const slackMs = isUpdate ? (code === BUSY ? -tookMs : 5_000) : 2_000;
  close(slackMs);
  await opened?.over(slackMs);
  // One that went through asks the workers once: no turn is late by that.
  closeBack(code === 0 || code === BUSY ? -NEVER_MS : 5_000);
  const say = (sentence: string) =>
    timeline.violation(sentence, { name, code, stdout: stdout.slice(-1_500), stderr: stderr.slice(-1_000) });
  if (!EXPECTED_CODES.includes(code)) return say("owlctl ended with an unexpected exit code");
  const isBroken = name === "update-broken" || name === "update-closed";
  if (isBroken && code === 0) return say("an update to a broken release is said to have succeeded");
  if (name === "cancel" || isBroken || code === 0 || code === BUSY) return;
  if (REFUSED.test(stderr) || REFUSED.test(stdout)) return;
  if (disturbances.touching(CAUSES, from - 3_000, until).every((one) => own.includes(one)))
    say("a rollout failed although nothing disturbed it");
}

/** A supervisor on its way back is away for a moment; an update asks all workers at once, and ends with owld itself. */
function excusedBy(name: OperationName): readonly Disturbed[] {
  if (name === "reexec" || name === "cancel") return ["supervisor"];
  return UPDATES.some((one) => one === name) ? ["workerFleet", "supervisor"] : [];
}

/** Of an update, before any process is touched. */
const BEFORE_CLOSING = ["stage", "preflight"];

/**
 * From the moment on that the pages may be closed: requests get a 503, turns that wait in the copy are failed when it is
 * put back. Whoever cannot be asked may have closed them.
 */
function whileClosed({ product, disturbances, timeline }: OperateDeps) {
  let isOver = false;
  let close: ((slackMs: number) => void) | null = null;
  const seen = new Set<string>();
  const looking = (async () => {
    for (; !isOver; await systemClock.sleep(100)) {
      const status = await product.status();
      const rollout = status?.rollout ?? null;
      const steps = rollout?.kind === "update" && rollout.state === "running" ? rollout.steps : [];
      const fresh = steps.map(({ action }) => action).filter((action) => !seen.has(action));
      for (const action of fresh) seen.add(action);
      if (fresh.length > 0) timeline.note("update-closed goes on", { steps: fresh });
      if (close !== null || (status !== null && steps.every(({ action }) => BEFORE_CLOSING.includes(action)))) continue;
      close = disturbances.open(["requests", "worker", "replicas"], "update-closed");
      timeline.note("update-closed may close the pages from now on");
    }
  })();
  return {
    /** `slackMs` later than now, it excuses nothing any more. */
    async over(slackMs: number): Promise<void> {
      isOver = true;
      await looking;
      close?.(slackMs);
    },
  };
}

/** The command line; for an update one that goes to a release that does not run. null: owld did not say what runs. */
async function wordsOf(deps: OperateDeps, name: OperationName): Promise<readonly string[] | null> {
  const { releases } = deps;
  switch (name) {
    case "restart":
      return ["restart", ...ROLLOUT];
    case "restart-all":
      return ["restart", "--all", ...ROLLOUT];
    case "restart-web":
      return ["restart", "web", ...ROLLOUT];
    case "restart-worker":
      return ["restart", "worker", ...ROLLOUT];
    case "cancel":
      return ["rollout", "cancel"];
    case "reexec":
      return ["daemon-reexec"];
    case "rollback":
      return ["rollback", "--yes", ...ROLLOUT];
    case "update-broken":
      return releases === null ? null : ["update", releases.broken, "--yes", ...ROLLOUT];
    case "update-closed":
      return releases === null ? null : ["update", releases.brokenClosed, "--yes", ...ROLLOUT];
    case "update": {
      const status = await deps.product.status(10_000);
      if (releases === null || status === null) return null;
      const to = status.release.version === "9.0.1" ? releases.migrating : releases.good;
      return ["update", to, "--yes", ...ROLLOUT];
    }
  }
}

/** Resolves when owld answers and no update is on its way. */
async function untilOver(product: Product): Promise<void> {
  const isOver = (status: Status | null) => status !== null && (status.rollout?.state ?? "") !== "running";
  for (const end = systemClock.now() + UPDATE_MS; systemClock.now() < end; await systemClock.sleep(300))
    if (isOver(await product.status())) return;
}

/** The reason of the last line of `--json`, when there is one. */
function reasonOf(stdout: string): string | undefined {
  try {
    const last: unknown = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    const { reason } = last as { readonly reason?: unknown };
    return typeof reason === "string" ? reason.slice(0, 400) : undefined;
  } catch {
    return undefined;
  }
}
