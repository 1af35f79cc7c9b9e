// Which rollout the administration shows as running.

import type { Rollout, Status } from "../../../../config/control-api.ts";
import type { Approval } from "../../../core/wire/system.ts";

/**
 * The rollout that runs, by whoever tells it, or null. Shown in one place: were it to move from one to another when the
 * second tells it too, a dialog about it would close under its reader.
 */
export function runningRollout(status: Status | null | undefined, approvals: readonly Approval[]): Rollout | null {
  const approved = approvals.find(({ state, progress }) => state === "running" && progress?.id && progress.steps);
  if (approved) return approved.progress as Rollout;
  return status?.rollout?.state === "running" ? status.rollout : null;
}
