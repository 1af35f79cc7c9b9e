// Makes a schedule's run: an ordinary turn or playbook run of its owner, held to the owner's limits. Invariant: whatever
// is refused leaves the caller's transaction as it was, and is told with its reason.

import type { AppConfig } from "../../config/config.ts";
import type { Random } from "../../config/time.ts";
import { insertConversation } from "../db/conversations.ts";
import { insertPlaybookRun } from "../db/playbook-runs.ts";
import { findPlaybook } from "../db/playbooks.ts";
import type { Sql } from "../db/pool.ts";
import type { JobQueue } from "../db/queue.ts";
import type { HeldSchedule, TickEnd } from "../db/schedule-ticks.ts";
import type { TickReason } from "../db/schedules.ts";
import { readSpending } from "../db/spending.ts";
import { acceptTurn } from "../db/turns.ts";
import { type HeldKind, readUsage } from "../db/usage.ts";

export interface RunDeps {
  readonly queue: JobQueue;
  readonly random: Random;
  readonly config: Pick<AppConfig, "limits" | "turn" | "budget">;
}

const refused = (reason: TickReason): TickEnd => ({
  outcome: "refused",
  reason,
  turnId: null,
  conversationId: null,
  runId: null,
});

export function runSchedule(deps: RunDeps, sql: Sql, schedule: HeldSchedule): Promise<TickEnd> {
  return schedule.text === null ? runPlaybook(deps, sql, schedule) : ask(deps, sql, schedule);
}

async function hasRoom({ config }: RunDeps, sql: Sql, accountId: string, kind: HeldKind): Promise<boolean> {
  return (await readUsage(sql, accountId, [kind]))[kind] < config.limits[kind];
}

const REFUSALS = { running: "conversation", notFound: "gone", full: "limit" } as const;

async function ask(deps: RunDeps, sql: Sql, schedule: HeldSchedule): Promise<TickEnd> {
  const { accountId, text } = schedule;
  const turnId = deps.random.uuid();
  const { monthly } = deps.config.budget;
  if (monthly !== null && (await readSpending(sql, accountId)).cost >= monthly) return refused("limit");
  if (schedule.conversationId === null && !(await hasRoom(deps, sql, accountId, "conversations")))
    return refused("limit");
  // A refused turn ends the statement it was in: not more than that.
  await sql.query("SAVEPOINT asked");
  const conversationId = schedule.conversationId ?? deps.random.uuid();
  if (schedule.conversationId === null) {
    await insertConversation(sql, { id: conversationId, accountId, title: schedule.name });
  }
  const outcome = await acceptTurn(sql, deps.queue, {
    id: turnId,
    conversationId,
    accountId,
    text: text ?? "",
    queueJob: deps.random.uuid(),
    claimMs: deps.config.turn.claimMs,
    most: deps.config.limits.turns,
  });
  if (outcome === "accepted") return { outcome: "started", reason: null, turnId, conversationId, runId: null };
  await sql.query("ROLLBACK TO SAVEPOINT asked");
  return refused(REFUSALS[outcome]);
}

async function runPlaybook(deps: RunDeps, sql: Sql, schedule: HeldSchedule): Promise<TickEnd> {
  const { accountId, playbookId } = schedule;
  const playbook = playbookId === null ? null : await findPlaybook(sql, playbookId, accountId);
  if (playbook === null) return refused("gone");
  if (!(await hasRoom(deps, sql, accountId, "runs"))) return refused("limit");
  const id = deps.random.uuid();
  const queueJob = deps.random.uuid();
  const { name, steps, lost } = playbook;
  const format = await insertPlaybookRun(sql, { id, accountId, playbookId: playbook.id, name, steps, lost, queueJob });
  await deps.queue.enqueue(sql, "playbook", { id, queueJob, format });
  return { outcome: "started", reason: null, turnId: null, conversationId: null, runId: id };
}
