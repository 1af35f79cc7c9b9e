// The operator in a chaos run: owlctl commands at their planned times, whatever else goes on. A rollout that nothing
// disturbed must succeed.

import { systemClock } from "../../../config/system-time.ts";
import type { Disturbances } from "../disturbances.ts";
import type { OperationName } from "../plan/schedule.ts";
import type { Product } from "../product.ts";
import type { Timeline } from "../timeline.ts";

const ARGUMENTS: Readonly<Record<OperationName, readonly string[]>> = {
  restart: ["restart", "--json", "--timeout", "180s"],
  "restart-web": ["restart", "web", "--json", "--timeout", "180s"],
  "restart-worker": ["restart", "worker", "--json", "--timeout", "180s"],
  "restart-all": ["restart", "--all", "--json", "--timeout", "180s"],
  cancel: ["rollout", "cancel"],
  reexec: ["daemon-reexec"],
};

/** May end so: done, failed for a reason, not reachable, busy, late. Anything else is a crash of owlctl itself. */
const EXPECTED_CODES = [0, 1, 3, 4, 5];

export async function operate(
  deps: { readonly product: Product; readonly timeline: Timeline; readonly disturbances: Disturbances },
  name: OperationName,
): Promise<void> {
  const { product, timeline, disturbances } = deps;
  const from = systemClock.now();
  timeline.note(`operation ${name}`);
  // A supervisor on its way back is away for a moment; a cancelled rollout ends as it was told to.
  const close = name === "reexec" || name === "cancel" ? disturbances.open(["supervisor"], name) : null;
  const { code, stdout, stderr } = await product.ctl(...ARGUMENTS[name]);
  close?.(2_000);
  const tookMs = systemClock.now() - from;
  timeline.note(`operation ${name} ended`, { code, tookMs, ...(code === 0 ? {} : { stderr: stderr.slice(-300) }) });
  if (!EXPECTED_CODES.includes(code)) {
    timeline.violation("owlctl ended with an unexpected exit code", { name, code, stderr: stderr.slice(-2_000) });
    return;
  }
  if (name === "cancel" || code === 0 || code === 4) return;
  const all = ["requests", "inFlight", "worker", "database", "supervisor", "replicas"] as const;
  if (disturbances.touching(all, from - 3_000, systemClock.now()).length === 0)
    timeline.violation("a rollout failed although nothing disturbed it", {
      name,
      code,
      stdout: stdout.slice(-1_500),
      stderr: stderr.slice(-1_000),
    });
}
