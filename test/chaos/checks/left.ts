// What is left at the end: exactly one supervisor, no process of a service that it does not know, one release, and no
// half-staged one.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Rollout } from "../../../config/control-api.ts";
import { processesOf } from "../processes.ts";
import type { Product } from "../product.ts";
import type { Timeline } from "../timeline.ts";

export async function checkLeft(product: Product, timeline: Timeline): Promise<void> {
  const status = await product.status(10_000);
  if (status === null) return timeline.violation("owld does not answer at the end", {});
  const instances = status.services.flatMap((service) => service.instances);
  const known = new Set(instances.map((one) => one.pid));
  const found = processesOf(product.home);
  for (const one of found.filter(({ kind }) => kind === "web" || kind === "worker"))
    if (!known.has(one.pid)) timeline.violation("a process that nobody owns was left behind", { ...one });
  const supervisors = found.filter(({ kind }) => kind === "supervisor");
  if (supervisors.length !== 1) timeline.violation("there is not exactly one supervisor", { supervisors });
  // A rollout that was cancelled or failed on its way leaves both, says so, and waits for a person.
  const whole = (await lastRollout(product))?.state === "succeeded";
  const other = whole ? instances.filter(({ release }) => release !== status.release.version) : [];
  if (other.length > 0) timeline.violation("instances of another release than owld's", { other, owld: status.release });
  const staging = names(join(product.home, "releases")).filter((name) => name.startsWith(".staging-"));
  if (staging.length > 0) timeline.violation("a half-staged release was left behind", { staging });
}

async function lastRollout(product: Product): Promise<Rollout | null> {
  const { code, stdout } = await product.ctl("rollout", "list", "--json");
  const all = code === 0 ? (JSON.parse(stdout) as readonly Rollout[]) : [];
  // By number, not by time: owld's wall clock may have jumped.
  const number = ({ id }: Rollout) => Number(id.replace(/\D/g, ""));
  return all.toSorted((a, b) => number(a) - number(b)).at(-1) ?? null;
}

function names(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
