// Rows of a turn's way in: accepted through the proxy, and its handler running, which is seen from outside as the request
// that the handler makes of the model. Client, model endpoint and product share the machine and the client's process has
// one clock for both ends.

import { randomUUID } from "node:crypto";
import { systemClock } from "../../../config/system-time.ts";
import { textOf } from "../../chaos/caller.ts";
import { processesOf } from "../../chaos/processes.ts";
import { type Bundled, until } from "../bundled.ts";
import { cpuMs, type Row, scaled, summaryOf } from "../figures.ts";

const WARM = scaled(200, 50);
const ALONE = scaled(300, 50);
const TURNS = scaled(2_000, 300);
const RATE = 100;
/** Turns whose model request has not come by then are counted as lost to the figures, in words. */
const PATIENCE_MS = 60_000;

interface Posted {
  readonly text: string;
  readonly sentAt: number;
  readonly acceptedAt: number;
}

const now = () => performance.timeOrigin + performance.now();

export async function measureTurns({ caller, model, product }: Bundled): Promise<readonly Row[]> {
  const conversations: string[] = [];
  for (let n = 0; n < WARM + ALONE + TURNS; n++)
    conversations.push(textOf((await caller.once("POST", "/api/conversations", { body: {} })).body, "id"));

  async function post(conversation: string): Promise<Posted | null> {
    const text = `hello ${randomUUID()}`;
    const sentAt = now();
    const answer = await caller.once("POST", `/api/conversations/${conversation}/turns`, { body: { text } });
    return answer.status === 202 ? { text, sentAt, acceptedAt: now() } : null;
  }
  const ended = ({ text }: Posted) => (model.seen.get(text)?.done ?? 0) > 0;

  // One at a time: the way to the handler without a queue in front of it. The first ones load and compile.
  const alone: Posted[] = [];
  for (const [n, conversation] of conversations.splice(0, WARM + ALONE).entries()) {
    const one = await post(conversation);
    if (one === null) throw new Error("a turn was not accepted");
    await until(() => ended(one), PATIENCE_MS, 1);
    if (n >= WARM) alone.push(one);
  }
  await systemClock.sleep(1_000);

  // On a fixed beat, whatever the answers do (no coordinated omission).
  const pids = processesOf(product.home).filter(({ kind }) => kind === "web" || kind === "worker" || kind === "proxy");
  const cpu = () => pids.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
  const cpuBefore = cpu();
  const all: Promise<Posted | null>[] = [];
  const start = performance.now();
  for (const [n, conversation] of conversations.entries()) {
    const wait = start + (n * 1_000) / RATE - performance.now();
    if (wait > 0) await systemClock.sleep(wait);
    all.push(post(conversation));
  }
  const done = (await Promise.all(all)).filter((one) => one !== null);
  await until(() => done.every(ended), PATIENCE_MS, 20).catch(() => undefined);
  const cpuEach = (cpu() - cpuBefore) / TURNS;

  const reached = (turns: readonly Posted[], from: "sentAt" | "acceptedAt") =>
    turns.flatMap((one) => {
      const at = model.seen.get(one.text)?.firstAt[0];
      // The handler may run before its client has read the 202.
      return at === undefined ? [] : [Math.max(0, at - one[from])];
    });
  const lost = done.length - reached(done, "sentAt").length;
  const failed = TURNS - done.length;
  const accept = summaryOf(done.map(({ sentAt, acceptedAt }) => acceptedAt - sentAt));
  const acceptAlone = summaryOf(alone.map(({ sentAt, acceptedAt }) => acceptedAt - sentAt));
  const handler = (work: string, turns: readonly Posted[], from: "sentAt" | "acceptedAt", note?: string): Row => {
    const summary = summaryOf(reached(turns, from));
    return {
      work,
      goal: "p50 <= 8 ms, p99 <= 30 ms",
      measured: `p50 ${summary.p50.toFixed(1)} ms, p99 ${summary.p99.toFixed(1)} ms`,
      met: summary.p50 <= 8 && summary.p99 <= 30 && lost === 0,
      unit: "ms",
      summary,
      ...(note === undefined ? {} : { note }),
    };
  };
  const unseen = lost > 0 ? `; ${lost} of ${TURNS} never came there within ${PATIENCE_MS / 1_000} s` : "";
  return [
    {
      work: `accept a turn (POST to 202) through the proxy, ${RATE}/s`,
      goal: "p50 <= 5 ms, p99 <= 20 ms",
      measured: `p50 ${accept.p50.toFixed(1)} ms, p99 ${accept.p99.toFixed(1)} ms, ${failed} not accepted`,
      met: accept.p50 <= 5 && accept.p99 <= 20 && failed === 0,
      unit: "ms",
      summary: accept,
      note: `proxy, web and worker together used ${cpuEach.toFixed(1)} ms of CPU for each turn, to its end`,
    },
    {
      work: "the same, one turn at a time",
      goal: "-",
      measured: `p50 ${acceptAlone.p50.toFixed(1)} ms, p99 ${acceptAlone.p99.toFixed(1)} ms`,
      met: null,
      unit: "ms",
      summary: acceptAlone,
    },
    handler(
      `accepted turn (202 read) to its handler's request at the model, ${RATE}/s`,
      done,
      "acceptedAt",
      `includes claiming, reading the history and the handler's HTTP request${unseen}`,
    ),
    handler(`POST sent to the handler's request at the model, ${RATE}/s`, done, "sentAt", "includes accepting"),
    handler("accepted turn to its handler's request at the model, one turn at a time", alone, "acceptedAt"),
    handler("POST sent to the handler's request at the model, one turn at a time", alone, "sentAt"),
  ];
}
