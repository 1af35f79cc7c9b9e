// `npm run chaos -- --losses N`: a whole Owl at work loses its machine at a random moment, N times by seed: all of it is
// killed, its home removed, the backup directory stays. Restored, it must hold what it accepted, and call no tool again.

import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../config/system-time.ts";
import { INSTALLATION_YAML, type Installation, metastoreUrl, startInstallation } from "../support/installation.ts";
import { ask } from "../support/installation-facts.ts";
import { loseMachine, restoreMachine, signedIn, upload } from "../support/lost-machine.ts";
import { wavBytes } from "../support/recordings.ts";
import { startModelEndpoint } from "./outside/model-endpoint.ts";
import { startToolServer } from "./outside/tool-server.ts";
import { createSeededRandom, type SeededRandom } from "./plan/seeded-random.ts";

/** What may be missing at most: what was accepted within this before the loss. */
const RPO_MS = 10_000;
const SETTLE_MS = 180_000;

interface Loss {
  readonly seed: number;
  readonly accepted: number;
  /** How long before the loss the oldest missing one was accepted; 0: none is missing. */
  readonly rpoMs: number;
  /** From the beginning of the restore to a signed-in client. */
  readonly rtoMs: number;
  readonly restoreMs: number;
  readonly broken: readonly string[];
}

interface Accepted {
  readonly kind: "turn" | "playbook_run" | "upload";
  readonly id: string;
  readonly atMs: number;
  readonly sha256?: string;
}

/** Exit code: 0 when nothing was broken. */
export async function runLosses(seed: number, count: number, interrupted: AbortSignal): Promise<number> {
  const losses: Loss[] = [];
  for (let n = 0; n < count && !interrupted.aborted; n++) {
    const loss = await lose(seed + n);
    losses.push(loss);
    const { accepted, rpoMs, rtoMs, restoreMs, broken } = loss;
    process.stdout.write(
      `loss ${loss.seed}: ${accepted} accepted, RPO ${rpoMs} ms, restore ${restoreMs} ms, RTO ${rtoMs} ms, ${broken.length === 0 ? "whole" : broken.join("; ")}\n`,
    );
  }
  const figures = (of: (loss: Loss) => number): string => {
    const sorted = losses.map(of).sort((a, b) => a - b);
    return `median ${sorted[Math.floor(sorted.length / 2)] ?? 0} ms, worst ${sorted.at(-1) ?? 0} ms`;
  };
  const broken = losses.filter((loss) => loss.broken.length > 0).length;
  process.stdout.write(
    `${losses.length} losses, ${broken} broken; RPO ${figures(({ rpoMs }) => rpoMs)}; RTO ${figures(({ rtoMs }) => rtoMs)}\n`,
  );
  return broken === 0 ? 0 : 1;
}

async function lose(seed: number): Promise<Loss> {
  const random = createSeededRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), "owl-loss-"));
  const [model, tools] = await Promise.all([startModelEndpoint(), startToolServer()]);
  const yaml = `backup: {directory: ${directory}}
model: {baseUrl: "${model.baseUrl}", apiKey: x, name: stub}
tools: {http: {allow: ["127.0.0.1"]}}
`;
  const owl = await startInstallation({ yaml: () => INSTALLATION_YAML + yaml });
  try {
    const taken = await owl.ctl("backup", "--now");
    if (taken.code !== 0) throw new Error(`no backup: ${taken.err}`);
    const lost = new AbortController();
    const work = load({ owl, tools: tools.url, random, lost: lost.signal });
    await systemClock.sleep(random.whole(8_000, 40_000));
    const lostAtMs = systemClock.now();
    await loseMachine(owl);
    lost.abort();
    const accepted = await work;

    const fromMs = systemClock.monotonicMs();
    const restored = await restoreMachine(owl, directory);
    if (restored.code !== 0) throw new Error(`the restore failed: ${restored.err}`);
    const restoreMs = Math.round(systemClock.monotonicMs() - fromMs);
    owl.start();
    await signedIn(owl);
    const rtoMs = Math.round(systemClock.monotonicMs() - fromMs);

    await settle(owl);
    const { rpoMs, broken } = await judge(owl, accepted, lostAtMs);
    for (const [tag, calls] of tools.calls)
      if (calls.length > 1) broken.push(`${tag} was called ${calls.length} times`);
    // A conversation's name is asked for by the same words each time.
    for (const [text, { firstAt }] of model.seen)
      if (text.startsWith("say ") && firstAt.length > 1) broken.push(`"${text}" was answered twice`);
    return { seed, accepted: accepted.length, rpoMs, rtoMs, restoreMs, broken };
  } finally {
    await owl.stop();
    await Promise.all([model.stop(), tools.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Turns, playbook runs and uploads until the loss; answers what was accepted. */
async function load(parts: {
  readonly owl: Installation;
  readonly tools: string;
  readonly random: SeededRandom;
  readonly lost: AbortSignal;
}): Promise<readonly Accepted[]> {
  const { owl, tools, random, lost } = parts;
  const accepted: Accepted[] = [];
  const web = await signedIn(owl);
  const lane = async (piece: (n: number) => Promise<Omit<Accepted, "atMs">>): Promise<void> => {
    for (let n = 1; !lost.aborted; n++) {
      // What the loss cuts was never accepted.
      const one = await piece(n).catch(() => null);
      if (one !== null) accepted.push({ ...one, atMs: systemClock.now() });
      await systemClock.sleep(random.whole(100, 700));
    }
  };
  await Promise.all([
    lane(async (n) => {
      const words = random.whole(2, 12);
      return { kind: "turn", id: (await web.ask(`say ${words} words every 60 ms (t${n})`)).turnId };
    }),
    lane(async (n) => {
      const steps = [{ id: "ticket", tool: "ticket", input: { url: `${tools}/?tag=p${n}&ms=300`, title: `p${n}` } }];
      const made = await web.call("POST", "/api/playbooks", { name: `p${n}`, steps });
      const run = await web.call("POST", `/api/playbooks/${made.body.id}/runs`, {});
      if (run.status >= 300) throw new Error(`a run was refused: ${run.status}`);
      return { kind: "playbook_run", id: run.body.runId };
    }),
    lane(async () => {
      const file = wavBytes(random.whole(1, 5));
      const sha256 = createHash("sha256").update(file).digest("hex");
      return { kind: "upload", id: await upload(web, file), sha256 };
    }),
  ]);
  return accepted;
}

/** Until every turn has its end, and no run goes on. */
async function settle(owl: Installation): Promise<void> {
  const fromMs = systemClock.monotonicMs();
  for (;;) {
    const [row] = await ask(
      metastoreUrl(owl.home),
      `SELECT (SELECT count(*) FROM owl.turn WHERE state NOT IN ('answered', 'stopped', 'failed'))
            + (SELECT count(*) FROM owl.playbook_run WHERE state IN ('queued', 'running')) AS open`,
    );
    if (Number(row?.open) === 0) return;
    if (systemClock.monotonicMs() - fromMs > SETTLE_MS) throw new Error(`${row?.open} jobs came to no end`);
    await systemClock.sleep(500);
  }
}

async function judge(owl: Installation, accepted: readonly Accepted[], lostAtMs: number) {
  const broken: string[] = [];
  let rpoMs = 0;
  for (const kind of ["turn", "playbook_run", "upload"] as const) {
    const rows = await ask(metastoreUrl(owl.home), `SELECT id::text AS id FROM owl.${kind}`);
    const there = new Set(rows.map(({ id }) => String(id)));
    for (const one of accepted.filter((other) => other.kind === kind)) {
      const hash = there.has(one.id) && one.sha256 !== undefined ? hashOf(join(owl.home, "uploads", one.id)) : null;
      if (there.has(one.id) && (one.sha256 === undefined || one.sha256 === hash)) continue;
      // A row whose file had not reached the directory is as good as missing.
      if (hash !== null) broken.push(`upload ${one.id} is not what was uploaded`);
      rpoMs = Math.max(rpoMs, lostAtMs - one.atMs);
      if (lostAtMs - one.atMs > RPO_MS) broken.push(`${kind} ${one.id} is missing`);
    }
  }
  return { rpoMs, broken };
}

/** null: there is no such file. */
function hashOf(path: string): string | null {
  if (!existsSync(path)) return null;
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
