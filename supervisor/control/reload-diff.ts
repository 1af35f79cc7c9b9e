// What another configuration would change: the instances that run with something else then, and sentences for the rest.

import type { AppConfig, Config } from "../../config/config.ts";
import type { Instance } from "../core/instance.ts";
import { inOrder } from "../core/rollout-plan.ts";
import type { Text } from "../core/text/text.ts";
import { configHash } from "../instances/launch.ts";

interface ReloadDiff {
  /** In the order of the new configuration, the oldest of each service first. */
  readonly replaced: readonly Instance[];
  /** Names of the services that are new and wanted. */
  readonly added: readonly string[];
  /** Empty: nothing differs. */
  notes(text: Text): readonly string[];
}

/** Compares `now` with `next` over the living `instances`. `app`: the application's part as instances get it. */
export function compareConfigs(
  now: Config,
  next: Config,
  instances: readonly Instance[],
  app: (config: Config) => AppConfig | null,
): ReloadDiff {
  const replaced = instances.filter((instance) => {
    const service = next.services.find(({ name }) => name === instance.service);
    if (service === undefined || instance.wanted === "down" || instance.state === "exited") return false;
    return instance.configHash !== configHash(service, app(next));
  });
  return {
    replaced: inOrder(
      replaced,
      next.services.map(({ name }) => name),
    ),
    added: next.services
      .filter(({ name, replicas }) => replicas > 0 && !now.services.some((one) => one.name === name))
      .map(({ name }) => name),
    notes: (text) => sayDiff(now, next, replaced, text),
  };
}

function sayDiff(now: Config, next: Config, replaced: readonly Instance[], { plan, reload }: Text): string[] {
  const notes: string[] = [];
  for (const service of next.services) {
    const { name, replicas } = service;
    const before = now.services.find((one) => one.name === name);
    const touched = replaced.filter((instance) => instance.service === name).length;
    const { cron, zone } = service.schedule ?? {};
    if (before === undefined && cron !== undefined) notes.push(reload.isTimed(name, cron, zone ?? ""));
    else if (before === undefined) notes.push(reload.isNew(name, replicas));
    else if (before.replicas !== replicas) notes.push(plan.count(name, before.replicas, replicas));
    else if (touched === 0 && JSON.stringify(before) !== JSON.stringify(service)) notes.push(reload.takenOver(name));
    if (touched > 0) notes.push(reload.replaced(name, touched));
  }
  for (const { name } of now.services)
    if (!next.services.some((service) => service.name === name)) notes.push(reload.isGone(name));
  if (JSON.stringify(next.proxy) !== JSON.stringify(now.proxy)) notes.push(reload.proxy);
  if (JSON.stringify(next.backup) !== JSON.stringify(now.backup)) notes.push(reload.takenOver("backup"));
  if (next.home !== now.home) notes.push(reload.home);
  return notes;
}
