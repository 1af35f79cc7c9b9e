// What backups cost: turns as fast as they are answered, by turns with backup.directory and without it in one
// installation, so that whatever else the machine does meets both alike.

import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../config/system-time.ts";
import { textOf } from "../../chaos/caller.ts";
import { startBundled, until } from "../bundled.ts";
import { type Bench, type Row, scaled } from "../figures.ts";

const PAIRS = scaled(6, 1);
const SPAN_MS = scaled(15_000, 8_000);
const LANES = 8;
const PATIENCE_MS = 60_000;
/** The first turns load and compile. */
const WARM_MS = scaled(30_000, 8_000);

export const backupBench: Bench = {
  name: "backup",
  async run(log) {
    const directory = await mkdtemp(join(tmpdir(), "owl-bench-backup-"));
    const bundled = await startBundled();
    const { product, caller, model } = bundled;
    const config = join(product.home, "owl.yaml");
    const plain = await readFile(config, "utf8");
    try {
      const answered = async (ms: number): Promise<number> => {
        let count = 0;
        const from = performance.now();
        const lane = async (): Promise<void> => {
          while (performance.now() - from < ms) {
            const conversation = textOf((await caller.once("POST", "/api/conversations", { body: {} })).body, "id");
            const text = `hello ${randomUUID()}`;
            await caller.once("POST", `/api/conversations/${conversation}/turns`, { body: { text } });
            await until(() => (model.seen.get(text)?.done ?? 0) > 0, PATIENCE_MS, 5);
            count += 1;
          }
        };
        await Promise.all(Array.from({ length: LANES }, lane));
        return (count * 1_000) / (performance.now() - from);
      };
      /** False: that is how it was already. */
      const change = async (text: string): Promise<boolean> => {
        if ((await readFile(config, "utf8")) === text) return false;
        await writeFile(config, text);
        const { code, stderr } = await product.ctl("reload");
        if (code !== 0) throw new Error(`not reloaded: ${stderr}`);
        return true;
      };
      /** There is a backup, none is under way, and the log has been written since. */
      const isKeptSince = async (at: number): Promise<boolean> => {
        const backup = (await product.status())?.backup ?? null;
        return backup !== null && !backup.running && backup.last !== null && Date.parse(backup.log?.at ?? "") > at;
      };
      await answered(WARM_MS);
      const ratios: number[] = [];
      for (let n = 0; n < PAIRS; n++) {
        // Which of the two is first changes, too: a database that grows favours nobody.
        const pair: Record<string, number> = {};
        for (const side of n % 2 === 0 ? ["without", "with"] : ["with", "without"]) {
          if (side === "with") {
            // The whole one at the beginning is of every six hours; what is measured is every second's.
            const at = systemClock.now();
            if (await change(`${plain}\nbackup: {directory: ${directory}}\n`))
              await until(() => isKeptSince(at), PATIENCE_MS, 200);
          } else await change(plain);
          pair[side] = await answered(SPAN_MS);
        }
        const ratio = (pair.with ?? 0) / (pair.without ?? 1);
        ratios.push(ratio);
        log(`without ${pair.without?.toFixed(1)}/s, with ${pair.with?.toFixed(1)}/s: ${ratio.toFixed(3)}`);
      }
      const sorted = ratios.toSorted((a, b) => a - b);
      const median = ((sorted[Math.ceil(PAIRS / 2) - 1] ?? 0) + (sorted[Math.floor(PAIRS / 2)] ?? 0)) / 2;
      const row: Row = {
        work: "Turns answered with backups, to without them",
        goal: ">= 0.95",
        measured: `median ${median.toFixed(3)} of ${PAIRS} pairs, ${sorted[0]?.toFixed(3)} to ${sorted.at(-1)?.toFixed(3)}`,
        met: median >= 0.95,
      };
      return [row];
    } finally {
      await bundled.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
};
