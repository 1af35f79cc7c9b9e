// A check that is fed a doctored record says so: with the seed, what happened around it, and the objects concerned.

import { expect, test } from "vitest";
import { textOf } from "../../../services/text/text.ts";
import { type DatabaseLook, judgeLooks } from "../../chaos/checks/database.ts";
import { checkBatches, checkPlain, checkPlaybooks, checkTurns } from "../../chaos/checks/work.ts";
import { createDisturbances } from "../../chaos/disturbances.ts";
import type { BatchRecord } from "../../chaos/load/batches.ts";
import type { PlaybookRecord } from "../../chaos/load/playbooks.ts";
import type { TurnRecord } from "../../chaos/load/turns.ts";
import type { ModelRecord } from "../../chaos/outside/model-endpoint.ts";
import { reportLines } from "../../chaos/report.ts";
import { createTimeline } from "../../chaos/timeline.ts";

const BUDGET = { finishMs: 6_000, claimMs: 20_000, limitMs: 30_000, waitMs: 10_000 };

function begun() {
  const timeline = createTimeline(() => undefined);
  const disturbances = createDisturbances();
  const sentences = () => timeline.violations.map((violation) => violation.sentence);
  return { timeline, disturbances, sentences, at: timeline.startedAt };
}

function turn(at: number, other: Partial<TurnRecord> = {}): TurnRecord {
  return {
    tag: "t1",
    text: "say 2 words every 20 ms (t1)",
    wanted: "w1 w2",
    lengthMs: 40,
    conversationId: "c",
    turnId: "the-turn",
    askedAt: at,
    acceptedAt: at,
    endedAt: at + 100,
    state: "answered",
    answer: "w1 w2 ",
    message: "",
    streamed: null,
    ...other,
  };
}

function model(record: TurnRecord, other: Partial<ModelRecord> = {}) {
  const seen: ModelRecord = {
    results: [],
    text: record.text,
    firstAt: [record.acceptedAt],
    followUps: 0,
    aborted: 0,
    done: 1,
  };
  return {
    baseUrl: "",
    seen: new Map([[record.text, { ...seen, ...other }]]),
    stop: () => Promise.resolve(),
  };
}

test("a turn that ran twice is told with the seed, the timeline and the turn", () => {
  const { timeline, disturbances, at } = begun();
  timeline.note("fault 7 kill-worker", { pid: 4711 });
  const record = turn(at);
  checkTurns({ timeline, disturbances }, [record], model(record, { firstAt: [at, at + 50] }), BUDGET);
  const schedule = { faults: [], operations: [] };
  const lines = reportLines({
    seed: 42,
    minutes: 5,
    schedule,
    injected: {},
    figures: {},
    violations: timeline.violations,
    logs: "/tmp/logs-of-42",
    timeline,
  });
  const text = lines.join("\n");
  expect(text).toMatch(/VIOLATION \(seed 42\): a turn was run twice/);
  expect(text).toMatch(/"turnId":"the-turn"/);
  expect(text).toMatch(/fault 7 kill-worker {2}\{"pid":4711\}/);
  expect(text).toMatch(/1 violations/);
  expect(text).toMatch(/logs: \/tmp\/logs-of-42/);
  expect(text).toMatch(/again: npm run chaos -- --seed 42 --minutes 5/);
});

test("a turn closed at its claim limit is excused while an update is turned back, and by no update that went through", () => {
  const late = (at: number) =>
    turn(at, { state: "failed", answer: "", message: textOf("en")("turn.unclaimed"), endedAt: at + 20_000 });
  for (const [slackMs, expected] of [
    [5_000, []],
    [-86_400_000, ["a turn was not claimed in time, and no worker was hurt"]],
  ] as const) {
    const { timeline, disturbances, sentences, at } = begun();
    disturbances.open(["turnedBack"], "update")(slackMs);
    checkTurns({ timeline, disturbances }, [late(at)], model(late(at), { firstAt: [] }), BUDGET);
    expect(sentences()).toEqual(expected);
  }
});

test("a whole turn breaks nothing; each doctored one breaks its promise", () => {
  const doctored: [Partial<TurnRecord>, Partial<ModelRecord>, RegExp | null][] = [
    [{}, {}, null],
    [{ endedAt: 0, state: "" }, {}, /never ended/],
    [{ answer: "w1 w1 w2 " }, {}, /not the whole answer/],
    [{ streamed: "w1 " }, {}, /stream's deltas/],
    [{ state: "failed", answer: "", message: "It was cut." }, {}, /failed although nothing happened/],
    [{ endedAt: begun().at + 90_000 }, {}, /longer than claim limit and turn limit/],
  ];
  for (const [record, seen, broken] of doctored) {
    const { timeline, disturbances, sentences, at } = begun();
    const one = turn(at, record);
    checkTurns({ timeline, disturbances }, [one], model(one, seen), BUDGET);
    if (broken === null) expect(sentences()).toEqual([]);
    else expect(sentences().join("\n")).toMatch(broken);
  }
});

test("an answer that tells on what the tool said of a database that was away is one, and none when nothing happened", () => {
  for (const said of ["Error: Connection terminated", "error: the database system is in recovery mode"]) {
    for (const hurt of [false, true]) {
      const { timeline, disturbances, sentences, at } = begun();
      if (hurt) disturbances.open(["database"], "kill-backend");
      const answer = `result: ${said}`;
      const record = turn(at, { wanted: "42", answer, streamed: answer });
      checkTurns({ timeline, disturbances }, [record], model(record, {}), BUDGET);
      expect(sentences().join("\n")).toEqual(hurt ? "" : expect.stringMatching(/not the whole answer/));
    }
  }
});

test("a turn that waits for its handler is excused by what was in the way, and by nothing else", () => {
  for (const hurt of [false, true]) {
    const { timeline, disturbances, sentences, at } = begun();
    if (hurt) disturbances.open(["workerFleet"], "update");
    const record = turn(at, { endedAt: at + 16_000 });
    checkTurns({ timeline, disturbances }, [record], model(record, { firstAt: [at + 15_000] }), BUDGET);
    expect(sentences()).toEqual(hurt ? [] : ["a turn waited for its handler although nothing was in the way"]);
  }
});

test("a tool called twice, a lost recording, a changed text and a doubled write are seen", () => {
  const { timeline, disturbances, sentences, at } = begun();
  const run: PlaybookRecord = {
    tag: "p1",
    stepIds: ["ticket"],
    runId: "r",
    acceptedAt: at,
    endedAt: at + 10,
    state: "done",
    message: "",
    steps: [{ id: "ticket", state: "finished" }],
    words: new Map(),
  };
  const servers = { url: "", stop: () => Promise.resolve() };
  const tools = { ...servers, calls: new Map([["p1.ticket", [at, at + 5]]]) };
  checkPlaybooks({ timeline, disturbances }, [run], tools, { ...servers, mails: new Map() });
  expect(sentences()).toEqual(["a playbook step's tool was called twice unasked"]);
  const asked = { ...run, words: new Map([["ticket", ["again"]]]) };
  checkPlaybooks({ timeline, disturbances }, [asked], tools, { ...servers, mails: new Map() });
  expect(sentences()).toHaveLength(1);

  const item = (path: string, text: string) => ({ path, text, state: "done", message: "" });
  const batch = (items: BatchRecord["items"]): BatchRecord => ({
    tag: "a1",
    batchId: "b",
    acceptedAt: at,
    endedAt: at + 10,
    state: "done",
    counts: { done: items.length },
    fellBack: 0,
    told: [],
    items,
  });
  const undisturbed = batch([item("r0", "words 0"), item("r1", "words 1")]);
  checkBatches({ timeline, disturbances }, [batch([item("r0", "words 1")])], undisturbed);
  expect(sentences()).toContain("a batch lost or doubled an item");
  expect(sentences()).toContain("a transcription is not that of an undisturbed run");

  const answer = { status: 201, body: {}, error: null, retryAfter: null, sentAt: at, endedAt: at + 1 };
  checkPlain({ timeline, disturbances }, [{ title: "plain-3", answer }], ["plain-3", "plain-3"]);
  expect(sentences()).toContain("a write was executed twice");
});

test("a 503 is excused while the pages are closed, but must say when to come back", () => {
  const { timeline, disturbances, sentences, at } = begun();
  disturbances.open(["requests"], "update-closed");
  const closed = { status: 503, body: {}, error: null, retryAfter: "10", sentAt: at, endedAt: at + 5_000 };
  checkPlain({ timeline, disturbances }, [{ title: null, answer: closed }], []);
  expect(sentences()).toEqual([]);
  checkPlain({ timeline, disturbances }, [{ title: null, answer: { ...closed, retryAfter: null } }], []);
  expect(sentences()).toEqual(["a 503 does not say when to come back"]);
});

test("the database's looks: an old heartbeat, too many sessions and an open transaction count when two agree", () => {
  const look = (at: number, other: Partial<DatabaseLook>): DatabaseLook => ({
    at,
    limit: 97,
    workers: [],
    sessions: [],
    idle: [],
    ...other,
  });
  const silent = { workers: [{ id: "worker-1", ageMs: 4_500, holds: true }] };
  const greedy = { sessions: [{ application: "owl/web-1", count: 9 }] };
  const idle = { idle: [{ application: "owl/web-1", seconds: 6, query: "SELECT 1" }] };
  const judged = (before: Partial<DatabaseLook>, now: Partial<DatabaseLook>, hurt = false) => {
    const { timeline, disturbances, sentences, at } = begun();
    if (hurt) disturbances.open(["worker"], "freeze-worker");
    const rules = { timeline, disturbances, declared: { web: 7 }, stalledAfterMs: 5_000 };
    judgeLooks(rules, look(at - 1_000, before), look(at, now));
    return sentences();
  };
  expect(judged({}, { ...silent, ...greedy })).toEqual([]);
  expect(judged(silent, silent)).toEqual(["a worker that nothing happened to gives no sign of life"]);
  expect(judged(silent, silent, true)).toEqual([]);
  expect(judged(greedy, greedy)).toEqual(["an instance holds more sessions than declared"]);
  expect(judged({}, idle)).toEqual(["a transaction was left open for more than 5 s"]);
  expect(judged({}, { sessions: [{ application: "psql", count: 98 }] })).toEqual([
    "more sessions than the database grants",
  ]);
});
