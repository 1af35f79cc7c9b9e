// A plan only tells: while nothing else happens, every row of the application, the releases and the processes are the
// same after it as before.

import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { asAdministrator } from "../faults/targets.ts";
import { processesOf } from "../processes.ts";
import type { Product } from "../product.ts";
import type { Timeline } from "../timeline.ts";

/** Written all the time, whoever asks for what. */
const BEATING = ["worker", "session", "system_status", "sweep"];

/** The plan of an update is none of these: it stages the release on purpose, to read it. */
const PLANS = [
  ["restart", "--plan"],
  ["restart", "--all", "--plan", "--json"],
  ["restart", "worker", "--plan"],
];

/** Something else may write in the very moment; a plan that writes does so each time. */
const TRIES = 3;

export async function checkPlans(product: Product, timeline: Timeline): Promise<void> {
  for (const words of PLANS) {
    let change: object | null = null;
    for (let n = 0; n < TRIES && (n === 0 || change !== null); n++) change = await changeBy(product, timeline, words);
    if (change !== null) timeline.violation("a plan wrote something", { words, ...change });
  }
}

/** What is another after that plan than before; null: nothing. */
async function changeBy(product: Product, timeline: Timeline, words: readonly string[]): Promise<object | null> {
  const before = await world(product);
  const { code } = await product.ctl(...words);
  const after = await world(product);
  // 10: there is something to do.
  if (code !== 0 && code !== 10) timeline.violation("a plan could not be told", { words, code });
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  return changed.length > 0 ? { changed, before, after } : null;
}

/** Fingerprints of everything a plan might touch, by name. */
async function world(product: Product): Promise<Readonly<Record<string, string>>> {
  const { home } = product;
  const tables = await asAdministrator<{ name: string }>(
    home,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE (schemaname = 'owl' AND tablename <> ALL ('{${BEATING.join(",")}}')) OR (schemaname, tablename) = ('pgboss', 'job')
      ORDER BY 1`,
  );
  const rows = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, coalesce(md5(string_agg(ctid::text || xmin::text, ',' ORDER BY ctid)), '') AS mark FROM ${name}`,
  );
  const marks = await asAdministrator<{ name: string; mark: string }>(home, rows.join(" UNION ALL "));
  const { stdout } = await product.ctl("rollout", "list", "--json");
  return {
    ...Object.fromEntries(marks.map(({ name, mark }) => [name, mark])),
    rollouts: createHash("sha256").update(stdout).digest("hex"),
    releases: listed(join(home, "releases")),
    processes: processesOf(home)
      .filter(({ kind }) => kind === "web" || kind === "worker" || kind === "supervisor" || kind === "proxy")
      .map(({ pid }) => pid)
      .join(" "),
  };
}

function listed(dir: string): string {
  try {
    return readdirSync(dir).sort().join(" ");
  } catch {
    return "";
  }
}
