// Workers of a whole installation whose event loop stands still: for 5 s, which must cost nothing, and for good, which
// owld must see, tell and put right. Blocked is a worker of this checkout that computes for 5 s when it gets SIGUSR2.

import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwlEvent, Status } from "../../config/control-api.ts";
import { type Installation, metastoreUrl, pidsOf, startInstallation } from "../support/installation.ts";
import { ask } from "../support/installation-facts.ts";
import { startTestModel, type TestModel } from "../support/model.ts";
import { makeRelease } from "../support/releases.ts";
import { createWebClient, until, type WebClient } from "../support/services.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const BOUND_MS = 600_000;
const BLOCKS = `
process.on("SIGUSR2", () => {
  const endMs = performance.now() + 5_000;
  while (performance.now() < endMs);
  log.info("computed for 5 s");
});
`;

let releases: string;
let model: TestModel;
let owl: Installation;
let web: WebClient;

beforeAll(async () => {
  releases = mkdtempSync(join(tmpdir(), "owl-blocked-"));
  chmodSync(releases, 0o755);
  const worker = "services/worker/wiring.ts";
  const blocking = await makeRelease(releases, "9.8.0", {
    [worker]: `${readFileSync(join(ROOT, worker), "utf8")}${BLOCKS}`,
  });
  model = await startTestModel();
  owl = await startInstallation({
    prepare: (home) => symlinkSync(blocking, join(home, "current")),
    yaml: () => `stop: {grace: 90s}
turn: {finish: 60s, wrapUp: 5s, claim: 120s, limit: 10m}
rollout: {confirm: 1s, healthTimeout: 60s}
heartbeat: {interval: 3s, stalledAfter: 15s}
web: {replicas: 1}
worker: {replicas: 2}
model: {baseUrl: "${model.baseUrl}", name: m}
`,
  });
  web = createWebClient(join(owl.home, "run/web-1.sock"));
  await web.signIn();
}, BOUND_MS);
afterAll(async () => {
  await owl?.stop();
  await model?.stop();
  rmSync(releases, { recursive: true, force: true });
}, BOUND_MS);

const sql = (text: string) => ask(metastoreUrl(owl.home), text);
const workersOf = ({ services }: Status) => services.find(({ name }) => name === "worker")?.instances ?? [];
const events = async (): Promise<readonly OwlEvent[]> =>
  (await owl.ctl("events", "--json")).out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as OwlEvent);
const logOf = (id: string) => readFileSync(join(owl.home, "logs", `${id}.log`), "utf8");

function wake(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // It is gone already.
  }
}

async function speaking(text: string): Promise<{ readonly turnId: string; readonly worker: string }> {
  const { turnId } = await web.ask(text);
  await until("it speaks", async () => (await web.turn(turnId)).answer);
  const [row] = await sql(`SELECT claimed_by FROM owl.turn WHERE id = '${turnId}'`);
  return { turnId, worker: String(row?.claimed_by) };
}

test(
  "blocked for 5 s by computing, no worker loses a turn or is replaced, and its heart beats on",
  async () => {
    const before = await owl.status();
    const turns = [await speaking("say 300 words every 20 ms"), await speaking("say 300 words every 21 ms")];
    const workers = workersOf(before);
    for (const { pid } of workers) process.kill(pid ?? 0, "SIGUSR2");
    await until("all have computed", () => workers.every(({ id }) => logOf(id).includes("computed for 5 s")));
    const [at] = await sql("SELECT now()::text AS now");
    for (const { turnId } of turns) {
      const turn = await web.ended(turnId);
      expect(turn).toMatchObject({ state: "answered" });
      expect(turn.answer.trim()).toBe(Array.from({ length: 300 }, (_, n) => `w${n + 1}`).join(" "));
    }
    await until("every heart has beaten since", async () => {
      const [row] = await sql(
        `SELECT count(*)::int AS n FROM owl.worker WHERE gone_at IS NULL AND heartbeat_at > '${at?.now}'`,
      );
      return row?.n === workers.length;
    });
    expect(await sql("SELECT DISTINCT attempt FROM owl.turn")).toEqual([{ attempt: 1 }]);
    expect(await sql("SELECT sum(reclaimed)::int AS n FROM owl.worker")).toEqual([{ n: 0 }]);
    expect(pidsOf(await owl.status())).toEqual(pidsOf(before));
    expect((await events()).map(({ type }) => type).filter((type) => /hung|leaving|crashed/.test(type))).toEqual([]);
  },
  BOUND_MS,
);

test(
  "frozen for good, it is told as hung and replaced new first; its turn goes on elsewhere, and woken it writes nothing more",
  async () => {
    const { turnId, worker } = await speaking("say 1000 words every 20 ms");
    const frozen = workersOf(await owl.status()).find(({ id }) => id === worker);
    const pid = frozen?.pid ?? 0;
    process.kill(pid, "SIGSTOP");
    try {
      const turn = await web.ended(turnId);
      expect(turn).toMatchObject({ state: "answered", message: null });
      expect(turn.answer.trim()).toBe(Array.from({ length: 1_000 }, (_, n) => `w${n + 1}`).join(" "));
      await owl.until((now) => workersOf(now).some(({ id, state }) => id === worker && state === "draining"));
      const story = (await events()).filter(({ service }) => service === "worker");
      const at = (type: string, of: (id: string) => boolean) =>
        story.findLastIndex((one) => one.type === type && of(one.instance ?? ""));
      const hungAt = at("instance.hung", (id) => id === worker);
      const successorAt = at("instance.ready", (id) => id !== worker);
      const leavingAt = at("instance.leaving", (id) => id === worker);
      expect([hungAt >= 0, hungAt < successorAt, successorAt < leavingAt]).toEqual([true, true, true]);
      expect(story[hungAt]?.message).toMatch(/^worker-\d hangs \(no heartbeat for \d+ s while its process lives\)/);
      const why = await owl.ctl("why", worker);
      expect(why.out).toMatch(/draining, on its way out: no heartbeat for \d+ s while its process lives/);
      expect(why.out).toMatch(/heartbeat: .* ago/);

      const written = () =>
        sql(`SELECT (SELECT count(*)::int FROM owl.turn_event WHERE turn_id = '${turnId}') AS events,
                    (SELECT count(*)::int FROM owl.turn_ending WHERE turn_id = '${turnId}') AS endings`);
      const before = await written();
      expect(before).toEqual([expect.objectContaining({ endings: 1 })]);
      wake(pid);
      await owl.until((now) => workersOf(now).every(({ id }) => id !== worker));
      expect(await written()).toEqual(before);
      expect(await web.turn(turnId)).toEqual(turn);
    } finally {
      wake(pid);
    }
    const next = await web.ask("and now?");
    expect(await web.ended(next.turnId)).toMatchObject({ state: "answered", answer: "ok: and now?" });
    const now = await owl.until(({ state }) => state === "steady");
    expect(workersOf(now)).toHaveLength(2);
  },
  BOUND_MS,
);
