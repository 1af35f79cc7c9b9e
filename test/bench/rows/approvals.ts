// Calls that wait to be allowed while releases come and go: each is answered with a double click at some moment of three
// updates and two rollbacks, and is then executed once, or refused.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import { listOf, textOf } from "../../chaos/caller.ts";
import { makeRelease } from "../../support/releases.ts";
import { startBundled, until } from "../bundled.ts";
import { startCallCounter } from "../call-counter.ts";
import { type Bench, type Row, scaled } from "../figures.ts";

const APPROVALS = scaled(500, 20);
const COURSE = ["9.0.1", "9.0.2", "back", "9.0.3", "back"].slice(0, scaled(5, 1));

export const approvalsBench: Bench = {
  name: "approvals",
  async run(log) {
    const counter = await startCallCounter();
    const dir = await mkdtemp(join(tmpdir(), "owl-bench-releases-"));
    const bundled = await startBundled('tools: {http: {allow: ["127.0.0.1"]}}\n');
    const { product, caller } = bundled;
    const patiently = () => systemClock.now() + 120_000;
    try {
      const releases = new Map<string, string>();
      for (const version of COURSE) if (version !== "back") releases.set(version, await makeRelease(dir, version, {}));
      const input = { url: `${counter.url}/act?ms=20`, method: "POST", body: {} };
      const steps = [{ id: "act", tool: "http", input, approval: true }];
      const made = await caller.once("POST", "/api/playbooks", { body: { name: "asks first", steps } });
      const runs: string[] = [];
      for (let n = 0; n < APPROVALS; n++) {
        const path = `/api/playbooks/${textOf(made.body, "id")}/runs`;
        runs.push(textOf((await caller.insist("POST", path, { body: {}, key: `a-${n}` }, patiently())).body, "runId"));
      }
      const look = async (id: string) => (await caller.insist("GET", `/api/playbook-runs/${id}`, {}, patiently())).body;
      const waiting = async (id: string) => textOf(await look(id), "state") === "waiting";
      for (const id of runs) await until(() => waiting(id), 120_000, 200);
      log(`${runs.length} wait`);

      const allowed = new Set<string>();
      let taken = 0;
      let doubled = 0;
      let next = 0;
      /** The next ones, each with two clicks at once; those that no answer came to are looked at and clicked again. */
      const answerSome = async (most: number) => {
        for (const id of runs.slice(next, next + most)) {
          next += 1;
          const answer = next % 5 === 0 ? "refuse" : "allow";
          if (answer === "allow") allowed.add(id);
          for (let clicks = 0; clicks < 20; clicks++) {
            const [step] = listOf(await look(id), "waitsFor");
            if (step === undefined) break;
            const body = { answer, name: step.name, argumentHash: step.argumentHash };
            const path = `/api/playbook-runs/${id}/steps/${step.n}/answer`;
            const both = await Promise.all([1, 2].map(() => caller.once("POST", path, { body })));
            const took = both.filter(({ status }) => status === 202).length;
            taken += took;
            if (took > 1) doubled += 1;
            if (took === 0) await systemClock.sleep(500);
          }
        }
      };
      const troubles: string[] = [];
      for (const [index, to] of COURSE.entries()) {
        const path = releases.get(to);
        const order = path === undefined ? ["rollback", "--yes"] : ["update", path, "--yes", "--allow-unsigned"];
        let over = false;
        const rollout = product.ctl(...order, "--json").then(({ code, stderr, stdout }) => {
          over = true;
          if (code !== 0) troubles.push(`${to}: ${code} ${stderr.slice(-300)} ${stdout.slice(-300)}`);
        });
        // A fifth of them while it goes on; what is left of that fifth after it.
        const upTo = Math.round((APPROVALS * (index + 1)) / COURSE.length);
        while (!over && next < upTo) {
          await answerSome(1);
          await systemClock.sleep(100);
        }
        await rollout;
        await answerSome(upTo - next);
        log(`${to}: ${next} answered`);
      }
      const open = async (id: string) => !["done", "failed"].includes(textOf(await look(id), "state"));
      for (const id of runs) await until(async () => !(await open(id)), 120_000, 200);
      const calls = (id: string) => counter.calls.get(`${id}:act`)?.length ?? 0;
      const once = runs.filter((id) => allowed.has(id) && calls(id) === 1).length;
      const refused = runs.filter((id) => !allowed.has(id) && calls(id) === 0).length;
      for (const trouble of troubles) log(trouble);
      const rows: Row[] = [
        {
          work: `${APPROVALS} approvals over 3 updates and 2 rollbacks, each with two clicks at once`,
          goal: "each executed once or refused",
          measured:
            `${once} of ${allowed.size} allowed executed once, ${refused} of ${APPROVALS - allowed.size} refused never; ` +
            `${taken} words taken, ${doubled} twice; ${COURSE.length - troubles.length} of ${COURSE.length} rollouts succeeded`,
          met: once + refused === APPROVALS && doubled === 0 && troubles.length === 0,
        },
      ];
      return rows;
    } finally {
      counter.stop();
      await bundled.stop();
      await rm(dir, { recursive: true, force: true });
    }
  },
};
