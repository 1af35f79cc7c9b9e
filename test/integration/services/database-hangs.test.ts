// PostgreSQL that hangs (its processes frozen): a draining worker still ends, bounded; the others put it right after.

import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../config/system-time.ts";
import { textOf } from "../../../services/text/text.ts";
import { startTestModel, type TestModel } from "../../support/model.ts";
import { type Services, startServices, until } from "../../support/services.ts";

let model: TestModel;
let services: Services;

beforeAll(async () => {
  model = await startTestModel();
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" },
    turn: { finishMs: 1_000, wrapUpMs: 1_000, claimMs: 30_000, limitMs: 60_000 },
    graceMs: 3_000,
  });
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
});

/** Stops the server's processes in the middle; resolves to their pids. The postmaster goes first: no backend is born unseen. */
async function freezeServer(): Promise<readonly number[]> {
  const { rows } = await services.sql.query<{ dir: string }>("SELECT current_setting('data_directory') AS dir");
  const postmaster = Number((await readFile(`${rows[0]?.dir}/postmaster.pid`, "utf8")).split("\n")[0]);
  const pids = [postmaster];
  signal(pids, "SIGSTOP");
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = (await readFile(`/proc/${name}/stat`, "utf8").catch(() => "")).split(") ")[1]?.split(" ");
    if (Number(fields?.[1]) === postmaster) pids.push(Number(name));
  }
  signal(pids, "SIGSTOP");
  return pids;
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // A backend that ended meanwhile.
    }
  }
}

test("the drain is bounded without a database, and its turn is failed once the database is back", async () => {
  const worker = await services.worker();
  const { client } = await services.web();
  await client.signIn();
  const { turnId } = await client.ask("say 1000 words every 30 ms");
  await until("it speaks", async () => (await client.turn(turnId)).answer);
  const pids = await freezeServer();
  try {
    worker.child.kill("SIGTERM");
    expect(await worker.exited).toEqual({ code: 1, signal: null });
    const last = (await worker.lines()).find((line) => line.msg === "drain gave up");
    expect(last).toMatchObject({ left: { chat: 1 } });
  } finally {
    signal(pids, "SIGCONT");
  }
  const turn = await until("it is failed", async () => {
    const found = await client.turn(turnId).catch(() => null);
    return found?.state === "failed" && found;
  });
  expect(turn).toMatchObject({ message: textOf("en")("turn.cut") });
  const { rows } = await services.sql.query("SELECT count(*)::int AS n FROM owl.turn_ending WHERE turn_id = $1", [
    turnId,
  ]);
  expect(rows).toEqual([{ n: 1 }]);
});

test("frozen for longer than the silence that counts: no healthy worker loses its job, and the answer is whole", async () => {
  await services.worker();
  const { client } = await services.web();
  await client.signIn();
  const { turnId } = await client.ask("say 30 words every 20 ms");
  await until("it speaks", async () => (await client.turn(turnId)).answer);
  const pids = await freezeServer();
  try {
    // Twice stalledAfter (1.5 s): the outage's length is the case itself, nothing is waited for.
    await systemClock.sleep(3_000);
  } finally {
    signal(pids, "SIGCONT");
  }
  const turn = await until("it ends", async () => {
    const found = await client.turn(turnId).catch(() => null);
    return found && ["answered", "failed"].includes(found.state) && found;
  });
  expect(turn).toMatchObject({ state: "answered" });
  expect(turn.answer.trim()).toBe(Array.from({ length: 30 }, (_, n) => `w${n + 1}`).join(" "));
});
