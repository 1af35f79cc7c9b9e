// Playbook runs: an HTTP call, a ticket and a mail, each tagged, so that the servers' own counts tell what was called. A run
// that waits for its owner is answered, by two clicks at once.

import { systemClock } from "../../../config/system-time.ts";
import { listOf, textOf } from "../caller.ts";
import { inLanes, type Load, type LoadContext } from "./load.ts";

export interface PlaybookRecord {
  readonly tag: string;
  readonly stepIds: readonly string[];
  runId: string;
  acceptedAt: number;
  endedAt: number;
  state: string;
  message: string;
  steps: readonly { readonly id: string; readonly state: string }[];
  /** What its owner said of steps whose outcome was not known, by step. */
  readonly words: Map<string, string[]>;
}

export interface ToolAddresses {
  readonly tools: string;
}

export function runPlaybooks(context: LoadContext, to: ToolAddresses, lanes: number): Load<PlaybookRecord> {
  const records: PlaybookRecord[] = [];
  const done = inLanes(context, lanes, async (n) => {
    const { caller, random } = context;
    const tag = `p${n}`;
    const url = (step: string) => `${to.tools}/?tag=${tag}.${step}&ms=${random.whole(20, 1_500)}`;
    const steps = [
      { id: "look", tool: "sql", input: { dataSource: "demo", sql: "SELECT 1 AS n" } },
      { id: "call", tool: "http", effect: "idempotent", input: { url: url("call"), method: "POST", body: { tag } } },
      { id: "ticket", tool: "ticket", input: { url: url("ticket"), title: tag } },
      {
        id: "mail",
        tool: "mail",
        input: { to: "team@example.org", subject: `${tag}.mail`, text: "${steps.ticket.output.id}" },
      },
      { id: "last", tool: "http", input: { url: url("last"), method: "POST", body: { tag } } },
    ];
    const giveUpAt = Math.min(context.giveUpAt(), systemClock.now() + 60_000);
    const made = await caller.insist(
      "POST",
      "/api/playbooks",
      { body: { name: tag, steps }, key: `b-${tag}` },
      giveUpAt,
    );
    const id = textOf(made.body, "id");
    if (id === "") return systemClock.sleep(500);
    const accepted = await caller.insist("POST", `/api/playbooks/${id}/runs`, { key: `r-${tag}`, body: {} }, giveUpAt);
    const runId = textOf(accepted.body, "runId");
    if (runId === "") {
      context.timeline.note("a playbook run was not accepted", { tag, status: accepted.status, error: accepted.error });
      return systemClock.sleep(500);
    }
    const record: PlaybookRecord = {
      tag,
      stepIds: steps.map((step) => step.id),
      runId,
      acceptedAt: accepted.endedAt,
      endedAt: 0,
      state: "",
      message: "",
      steps: [],
      words: new Map(),
    };
    records.push(record);
    await watch(context, record);
    await systemClock.sleep(random.whole(100, 800));
  });
  return { records, done };
}

async function watch(context: LoadContext, record: PlaybookRecord): Promise<void> {
  while (systemClock.now() < context.giveUpAt()) {
    const run = await context.caller.once("GET", `/api/playbook-runs/${record.runId}`, { timeoutMs: 15_000 });
    for (const asked of listOf(run.body, "waitsFor")) await answer(context, record, asked);
    if (textOf(run.body, "endedAt") !== "") {
      record.state = textOf(run.body, "state");
      record.message = textOf(run.body, "message");
      record.endedAt = run.endedAt;
      record.steps = listOf(run.body, "steps").map((step) => ({
        id: textOf(step, "id"),
        state: textOf(step, "state"),
      }));
      return;
    }
    await systemClock.sleep(500);
  }
}

const WORDS = ["happened", "again", "stop"] as const;

async function answer(context: LoadContext, record: PlaybookRecord, asked: unknown): Promise<void> {
  const { caller, random, timeline } = context;
  const { n, name, argumentHash, id } = asked as Readonly<Record<string, unknown>>;
  const body = { answer: WORDS[random.whole(0, 2)] ?? "stop", name, argumentHash };
  const say = () =>
    caller.once("POST", `/api/playbook-runs/${record.runId}/steps/${n}/answer`, { body, timeoutMs: 15_000 });
  const taken = (await Promise.all([say(), say()])).filter(({ status }) => status === 202).length;
  if (taken > 1) timeline.violation("a step was answered twice", { run: record, asked });
  // Also where the answer got lost on its way: it may have been taken.
  const step = String(id);
  record.words.set(step, [...(record.words.get(step) ?? []), body.answer]);
}
