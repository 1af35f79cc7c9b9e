// Preloaded into an owld under test: kills it (SIGKILL) right after the n-th write to its state file from the moment a
// rollout is given its number. OWL_TEST_KILL_AT is n.

import { StatementSync } from "node:sqlite";

const limit = Number(process.env.OWL_TEST_KILL_AT ?? 0);
let counting = false;
let writes = 0;
const run = StatementSync.prototype.run;
StatementSync.prototype.run = function (this: StatementSync, ...values: Parameters<typeof run>) {
  const result = run.apply(this, values);
  counting ||= (values[0] as unknown) === "rollout";
  if (counting && ++writes === limit) process.kill(process.pid, "SIGKILL");
  return result;
} as typeof run;
