// What an operator asks to be deployed, looked up: which services, from what, and so which releases then.
// Invariant: what cannot be is refused here, before anything is written.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config, ServiceConfig } from "../../../config/config.ts";
import type { DeployRequest, OwnRelease } from "../../../config/deploy-api.ts";
import type { Gate } from "../../control/gate.ts";
import { changedReleases, type Releases, releaseBefore } from "../../core/own-release.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { type Source, sourceAt } from "./sources.ts";

interface Asking {
  readonly config: Config;
  readonly gate: Pick<Gate, "serviceNamed">;
  readonly inForce: Releases;
  readonly all: readonly OwnRelease[];
}

/** A new release is made of `source`, or services go back to the `releases` named. */
export type Asked =
  | { readonly kind: "make"; readonly services: readonly ServiceConfig[]; readonly source: Source }
  | { readonly kind: "back"; readonly services: readonly ServiceConfig[]; readonly releases: Releases };

/** Throws `service.unknown`, `deploy.*`. */
export async function lookUp(request: DeployRequest, asking: Asking): Promise<Asked> {
  const services = servicesOf(request, asking);
  if (request.release !== undefined)
    return { kind: "back", services, releases: goBack(request.release, services, asking) };
  if (request.path !== undefined) return { kind: "make", services, source: await sourceAt(request.path) };
  const own = services[0]?.code?.source ?? "";
  const directory = isCheckout(own) ? own : (request.directory ?? own);
  return { kind: "make", services, source: { kind: "git", ref: request.ref ?? "HEAD", directory } };
}

export function describeSource(source: Source): string {
  return source.kind === "git" ? `${source.ref} (git, ${source.directory})` : source.path;
}

function servicesOf({ services = [] }: DeployRequest, { config, gate }: Asking): readonly ServiceConfig[] {
  const named = services.length === 0 ? config.services : [...new Set(services)].map(gate.serviceNamed);
  for (const { name, code, cwd } of named) {
    if (code === undefined) throw new Refusal("deploy.bundled", ({ refused }) => refused.deploy.bundled(name));
    if (code.within === null) throw new Refusal("deploy.absolute", ({ refused }) => refused.deploy.absolute(name, cwd));
  }
  return named;
}

function goBack(release: string, services: readonly ServiceConfig[], { inForce, all }: Asking): Releases {
  const known = all.map(({ id }) => id);
  if (release !== "before" && !known.includes(release))
    throw new Refusal("deploy.noRelease", ({ refused }) => refused.deploy.noRelease(release, known.join(", ")));
  let releases = inForce;
  for (const { name } of services) {
    const present = inForce[name];
    if (release !== "before") releases = changedReleases(releases, [name], release);
    else if (present === undefined)
      throw new Refusal("deploy.notDeployed", ({ refused }) => refused.deploy.notDeployed(name));
    else releases = changedReleases(releases, [name], releaseBefore(all, name, present));
  }
  if (services.every(({ name }) => releases[name] === inForce[name])) {
    const names = services.map(({ name }) => name).join(", ");
    throw new Refusal("deploy.same", ({ refused }) => refused.deploy.same(names));
  }
  return releases;
}

function isCheckout(directory: string): boolean {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (at === dirname(at)) return false;
  }
}
