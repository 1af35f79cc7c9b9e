// One running installation, updated three times under a steady load and turned back once: A -> B with a compatible
// migration, B -> C with another job format, C -> D with an incompatible migration and a web that crashes (restored by
// itself), C -> B by hand. Judged from outside alone: what clients saw, what the model and the tools were asked.

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../config/system-time.ts";
import { jobKindRow } from "../../../services/core/job-kinds.ts";
import { textOf as wordsOf } from "../../../services/text/text.ts";
import { createCaller, textOf } from "../../chaos/caller.ts";
import { sendPlain } from "../../chaos/load/plain.ts";
import { runPlaybooks } from "../../chaos/load/playbooks.ts";
import { askTurns, type TurnRecord } from "../../chaos/load/turns.ts";
import { type MailServer, startMailServer } from "../../chaos/outside/mail-server.ts";
import { type ModelEndpoint, startModelEndpoint } from "../../chaos/outside/model-endpoint.ts";
import { startToolServer, type ToolServer } from "../../chaos/outside/tool-server.ts";
import { createSeededRandom } from "../../chaos/plan/seeded-random.ts";
import { createTimeline } from "../../chaos/timeline.ts";
import { found, type Installation, releasesOf, startInstallation } from "../../support/installation.ts";
import { makeRelease } from "../../support/releases.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const BOUND_MS = 1_200_000;
const FINISH_MS = 4_000;
/** Every new-format row says so in a way that code of before would hand to the model. */
const MARK = "v2:";
const { format, freshFormat } = jobKindRow("chat");

let releases: string;
let model: ModelEndpoint;
let tools: ToolServer;
let mail: MailServer;
let owl: Installation;
const path = { b: "", c: "", d: "" };

function changed(file: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce(
    (text, [from, to]) => {
      expect(text, file).toContain(from);
      return text.replace(from, () => to);
    },
    readFileSync(join(ROOT, file), "utf8"),
  );
}

beforeAll(async () => {
  releases = mkdtempSync(join(tmpdir(), "owl-legs-"));
  chmodSync(releases, 0o755);
  const count = readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql")).length;
  const migration = (n: number, text: string) => ({
    [`migrations/${String(count + n).padStart(4, "0")}_leg.sql`]: text,
  });
  const compatible = migration(1, "-- compatible\nCREATE TABLE owl.leg (id int);\n");
  // The meaning of a turn's text changes, so its format is raised; rows of the ones before are still understood.

  const nextFormat = {
    "services/core/job-kinds.ts": changed("services/core/job-kinds.ts", [
      [
        `    format: ${format},\n    freshFormat: ${freshFormat},`,
        `    format: ${format + 1},\n    freshFormat: ${format + 1},`,
      ],
    ]),
    "services/db/turns.ts": changed("services/db/turns.ts", [
      ["        turn.text,\n", `        "${MARK}" + turn.text,\n`],
    ]),
    "services/db/turn-to-answer.ts": changed("services/db/turn-to-answer.ts", [
      [
        `t.account_id AS "accountId", t.text, t.model,`,
        `t.account_id AS "accountId", regexp_replace(t.text, '^${MARK}', '') AS text, t.model,`,
      ],
    ]),
  };
  path.b = await makeRelease(releases, "9.1.0", compatible);
  path.c = await makeRelease(releases, "9.2.0", { ...compatible, ...nextFormat });
  path.d = await makeRelease(releases, "9.3.0", {
    ...compatible,
    ...nextFormat,
    ...migration(2, "-- incompatible\nALTER TABLE owl.turn ADD COLUMN leg text;\n"),
    "services/web/main.ts": `process.stderr.write("the new web is broken\\n"); process.exit(3);\n`,
  });
  [model, tools, mail] = await Promise.all([startModelEndpoint(), startToolServer(), startMailServer()]);
  owl = await startInstallation({
    yaml: () => `stop: {grace: 10s}
turn: {finish: ${FINISH_MS}ms, wrapUp: 2s, claim: 20s}
rollout: {confirm: 1s, healthTimeout: 60s}
web: {replicas: 1}
worker: {replicas: 1}
model: {baseUrl: "${model.baseUrl}", apiKey: x, name: stub}
mail: {smtp: "${mail.url}", from: "owl@example.org"}
`,
  });
});
afterAll(async () => {
  await owl?.stop();
  await Promise.all([model?.stop(), tools?.stop(), mail?.stop()]);
  rmSync(releases, { recursive: true, force: true });
}, BOUND_MS);

test(
  "every turn ends, no tool is called twice, no older worker sees a newer job, and requests fail only while the pages are closed",
  async () => {
    const caller = createCaller(owl.port);
    expect(await caller.signIn()).toBe(true);
    const ending = new AbortController();
    let giveUpAt = Number.POSITIVE_INFINITY;
    const timeline = createTimeline(() => undefined);
    const context = (seed: number) => ({
      caller,
      timeline,
      random: createSeededRandom(seed),
      ending: ending.signal,
      giveUpAt: () => giveUpAt,
    });
    const turns = askTurns(context(1), owl.port, 4);
    const runs = runPlaybooks(context(2), { tools: tools.url }, 1);
    const plain = sendPlain(context(3), 2);
    const legs: { readonly name: string; readonly from: number; readonly until: number }[] = [];

    /** The load is under way on the release that runs: some turns have been answered since. */
    async function underWay(): Promise<void> {
      const since = systemClock.now();
      await found(
        async () =>
          turns.records.filter(({ acceptedAt, endedAt }) => acceptedAt > since && endedAt > 0).length >= 5
            ? true
            : null,
        () => "no turns were answered",
      );
    }
    async function leg(name: string, version: string, code: number, ...args: string[]): Promise<string> {
      await underWay();
      const from = systemClock.now();
      const done = await owl.ctl(...args, "--yes", "--json");
      expect(done.code, `${name}: ${done.err}${/"reason":"[^"]*/.exec(done.out)?.[0]}${done.out.slice(-2_000)}`).toBe(
        code,
      );
      const after = await owl.until(({ state, release }) => state === "steady" && release.version === version);
      expect(releasesOf(after)).toEqual([version]);
      legs.push({ name, from, until: systemClock.now() });
      return done.out;
    }

    await leg("A to B", "9.1.0", 0, "update", path.b);
    const plan = await owl.ctl("update", path.c, "--plan");
    expect(plan.out, plan.err).toContain(`job kind chat has format ${format + 1}, was ${format}`);
    expect((await owl.ctl("update", path.c, "--overlap", "--plan")).err).toMatch(/may not run together/);
    await leg("B to C", "9.2.0", 0, "update", path.c);
    expect(await leg("C to D", "9.2.0", 1, "update", path.d)).toMatch(
      /the new web is broken[\s\S]*Rolled back to 9\.2\.0/,
    );
    // Asked one after the other through all of it: some while no worker is there and the newer web still serves.
    const probes: string[] = [];
    let isAsking = true;
    const asking = (async () => {
      for (let n = 1; isAsking; n++) {
        const conversation = await caller.insist("POST", "/api/conversations", { body: {}, key: `p${n}` }, giveUpAt);
        const to = `/api/conversations/${textOf(conversation.body, "id")}/turns`;
        const turn = await caller.insist("POST", to, { body: { text: `probe ${n}` }, key: `q${n}` }, giveUpAt);
        probes.push(textOf(turn.body, "turnId"));
        await systemClock.sleep(100);
      }
    })();
    try {
      await leg("C back to B", "9.1.0", 0, "rollback", "9.1.0");
    } finally {
      isAsking = false;
      await asking;
    }
    await underWay();
    giveUpAt = systemClock.now() + 90_000;
    ending.abort();
    await Promise.all([turns.done, runs.done, plain.done]);

    const during = (name: string, from: number, until: number): boolean =>
      legs.some((one) => one.name === name && from <= one.until && until >= one.from);
    const wrong: unknown[] = [];
    const newer: TurnRecord[] = [];
    for (const turn of turns.records) {
      const row = await caller.insist("GET", `/api/turns/${turn.turnId}`, {}, giveUpAt);
      if (textOf(row.body, "text").startsWith(MARK)) newer.push(turn);
      const asked = model.seen.get(turn.text);
      // One that did not fit the budget of a stop is asked again by whoever it was handed over to.
      const mayGoOn = turn.lengthMs > FINISH_MS - 3_000;
      if (!mayGoOn && ((asked?.firstAt.length ?? 0) > 1 || (asked?.followUps ?? 0) > 1))
        wrong.push(["run twice", turn, asked]);
      if (turn.state === "answered") {
        const whole = turn.wanted === "42" ? turn.answer.includes("42") : turn.answer.trim() === turn.wanted;
        if (!whole) wrong.push(["not the whole answer", turn]);
      } else if (turn.state !== "failed") wrong.push(["never ended", turn]);
      else if (turn.message === wordsOf("en")("turn.cut")) {
        // It did not fit the budget of a stop, or the copy that was put back held it open.
        const restored = during("C to D", turn.askedAt, turn.endedAt);
        if (turn.lengthMs <= FINISH_MS - 3_000 && !restored) wrong.push(["cut short", turn]);
      } else if (turn.message === wordsOf("en")("turn.unclaimed")) {
        if (asked !== undefined && !during("C to D", turn.askedAt, turn.endedAt))
          wrong.push(["closed as unclaimed, but run", turn]);
      } else wrong.push(["failed for no reason", turn]);
      if (turn.streamed !== null && turn.streamed !== turn.answer) wrong.push(["stream and answer differ", turn]);
    }
    for (const run of runs.records) {
      if (run.state === "") wrong.push(["a run never ended", run]);
      if (run.state === "failed" && run.message === "") wrong.push(["a run failed without a message", run]);
      for (const step of ["ticket", "last"])
        if ((tools.calls.get(`${run.tag}.${step}`)?.length ?? 0) > 1)
          wrong.push(["a tool was called twice", step, run]);
      if ((mail.mails.get(`${run.tag}.mail`) ?? 0) > 1) wrong.push(["a mail was sent twice", run]);
    }
    for (const { answer } of plain.records) {
      if (answer.status !== null && answer.status < 400) continue;
      if (answer.status === 503 && during("C to D", answer.sentAt, answer.endedAt)) continue;
      wrong.push(["a request failed", answer]);
    }
    expect(wrong).toEqual([]);

    // Both formats were asked for, and what older code must not run it never had in hand.
    expect(newer.length).toBeGreaterThan(0);
    expect(newer.length).toBeLessThan(turns.records.length);
    expect([...model.seen.keys()].filter((text) => text.includes(MARK))).toEqual([]);
    let unclaimed = 0;
    for (const id of probes) {
      const row = await found(
        async () => {
          const { body } = await caller.insist("GET", `/api/turns/${id}`, {}, giveUpAt);
          return ["queued", "running"].includes(textOf(body, "state")) ? null : body;
        },
        () => `probe ${id} never ended`,
      );
      const isNewer = textOf(row, "text").startsWith(MARK);
      const asked = model.seen.has(textOf(row, "text").replace(MARK, ""));
      if (textOf(row, "state") === "answered") continue;
      expect([isNewer, asked, textOf(row, "message")], id).toEqual([true, false, wordsOf("en")("turn.unclaimed")]);
      unclaimed += 1;
    }
    expect(unclaimed).toBeGreaterThan(0);
    const answered = turns.records.filter(({ state }) => state === "answered").length;
    expect(answered).toBeGreaterThan(turns.records.length / 2);
    caller.close();
  },
  BOUND_MS,
);
