// THE decision: the world as it is in, the next actions out; asked again after every event until nothing is left to do.
// Pure and level-triggered: it looks at facts, never at what was decided before, so an owld killed at any line of a
// rollout is continued by the next one simply by asking again.
// Invariants: never fewer ready than replicas by our doing (an old one goes only when its successor is routed); a
// rollout fills one place at a time, and two of a service where what runs does not change (a start is mostly one core's
// work); the oldest goes first; only a rollout's own new instance is removed when it fails.

import type { MonotonicMs } from "../../config/time.ts";
import { freshOf, hasStood, holdOldOnes, isSharing, isUndone, takesOver, waveStood } from "./confirm.ts";
import { admitInstance, OWN_CONNECTIONS } from "./connection-budget.ts";
import { type Instance, isLiving, isServing, PROXY } from "./instance.ts";
import type { Action, RolloutFacts, ServiceFacts, World } from "./world.ts";

/** How long after its signal a failed or cancelled rollout waits for an old instance. */
const PATIENCE_MS = 30_000;
/** Services serve for so long at most while the proxies, told to end, finish what they have. */
const DOOR_CLOSES_MS = 5_000;

/** What is to be done now. Empty: nothing until the next event or deadline. */
export function decide(world: World): readonly Action[] {
  if (world.stopping) return stopAll(world);
  const known = new Set(world.services.map(({ name }) => name));
  const orphans = world.instances.filter(({ service }) => !known.has(service));
  const failed = failedOfRollout(world);
  if (failed !== null) return [{ kind: "fail", ...failed }];
  return [
    ...holdOldOnes(world),
    ...orphans.flatMap((instance) => sendAway(instance, world.text.cause.serviceGone)),
    ...world.services.flatMap((service) => fillService(world, service)),
    ...stepRollout(world),
  ];
}

/** The proxies first: who has come is still served, and who comes later waits outside instead of finding nobody. */
function stopAll(world: World): Action[] {
  const opens = (one: Instance): boolean =>
    one.service === PROXY &&
    isLiving(one) &&
    (one.signalledMs === null || world.nowMs - one.signalledMs < DOOR_CLOSES_MS) &&
    !one.wasKilled;
  const isOpen = world.instances.some(opens);
  return world.instances
    .filter(({ service }) => service === PROXY || (!isOpen && !isNeeded(world, service)))
    .flatMap((instance) => sendAway(instance, world.text.cause.owldStops));
}

/** Somebody who depends on it still lives. */
function isNeeded({ services, instances }: World, name: string): boolean {
  const dependent = services.filter(({ dependsOn }) => dependsOn?.includes(name)).map((one) => one.name);
  return instances.some((one) => isLiving(one) && dependent.includes(one.service));
}

function sendAway(instance: Instance, cause: string): Action[] {
  if (instance.wanted === "down") return [];
  if (!isLiving(instance)) return [{ kind: "discard", instance: instance.id }];
  return [{ kind: "leave", instance: instance.id, cause }];
}

/** Brings one service to its number and moves its replacements on. */
function fillService(world: World, service: ServiceFacts): Action[] {
  const up = world.instances.filter((one) => one.service === service.name && one.wanted === "up");
  const byId = new Map(up.map((one) => [one.id, one]));
  const find = (id: string | null): Instance | undefined => (id === null ? undefined : byId.get(id));
  // Beside the one whose place it takes, an instance is no place of its own.
  const places = up.filter((one) => {
    const old = find(one.replaces);
    return old === undefined || !isLiving(old);
  });
  const surplus = places.length - service.wanted;
  if (surplus > 0) {
    const cause = world.text.cause.count(service.name, service.wanted);
    return places
      .toSorted((a, b) => standing(a) - standing(b) || dueMs(b) - dueMs(a) || a.number - b.number)
      .slice(0, surplus)
      .flatMap((one) => sendAway(one, cause));
  }
  const actions: Action[] = [];
  const awaited = awaitedOf(service, world.services, world.instances);
  if (!service.held && awaited.length === 0 && mayStart(world, service)) {
    for (let missing = surplus; missing < 0; missing++) {
      actions.push({ kind: "start", service: service.name, replaces: null, follows: null, rollout: null });
    }
  }
  for (const one of up) {
    const old = find(one.replaces);
    if (old !== undefined && service.configHash !== null && causeToReplace(world, service, old) === null) {
      // The configuration was turned back before its successor had come up.
      actions.push(...sendAway(one, world.text.cause.notNeeded(old.id)));
    } else if (one.state === "backoff") {
      const due = one.deadline === null || one.deadline.atMs <= world.nowMs;
      if (due && !service.held) {
        const retried = one.rollout !== null && world.rollout?.targets.includes(one.id) ? one.id : null;
        const replaces = old === undefined ? retried : old.id;
        actions.push({ kind: "start", service: service.name, replaces, follows: one.id, rollout: one.rollout });
      }
    } else {
      const cause = causeToReplace(world, service, one);
      if (cause !== null) actions.push(...replaceOne(world, service, one, up, cause));
    }
  }
  return actions;
}

/** What it depends on and is wanted, but has none that serves: until then no place of it is filled for the first time. */
export function awaitedOf(
  { dependsOn = [] }: Pick<ServiceFacts, "dependsOn">,
  services: readonly Pick<ServiceFacts, "name" | "wanted">[],
  instances: readonly Instance[],
): readonly string[] {
  return dependsOn.filter((name) => {
    const isWanted = services.some((one) => one.name === name && one.wanted > 0);
    return isWanted && !instances.some((one) => one.service === name && isServing(one));
  });
}

function causeToReplace(world: World, service: ServiceFacts, one: Instance): string | null {
  if (one.replaceCause !== null) return one.replaceCause;
  const isOutdated = service.configHash !== null && one.configHash !== service.configHash;
  return isOutdated ? world.text.cause.configuration : null;
}

/** First to go: what runs least well. */
function standing(instance: Instance): number {
  return ["backoff", "unhealthy", "starting", "ready"].indexOf(instance.state);
}

/** Of two that wait for their next start, the one that is due first stays. */
function dueMs(instance: Instance): MonotonicMs {
  return instance.state === "backoff" ? (instance.deadline?.atMs ?? 0) : 0;
}

function replaceOne(
  world: World,
  service: ServiceFacts,
  old: Instance,
  up: readonly Instance[],
  cause: string,
): Action[] {
  const next = up.find(({ replaces }) => replaces === old.id);
  if (next === undefined) {
    if (service.held || (old.replaceFromMs ?? 0) > world.nowMs || !mayStart(world, service)) return [];
    const ofRollout = world.rollout?.targets.includes(old.id) ? world.rollout.id : null;
    if (ofRollout !== null && (world.paused || world.rollout?.failure !== null)) return [];
    return [{ kind: "start", service: service.name, replaces: old.id, follows: null, rollout: ofRollout }];
  }
  const takesOver = next.state === "ready" && next.routed && isOldest(world, old);
  if (takesOver && mayLeave(old, service, up) && maySettle(world, old)) {
    return [{ kind: "leave", instance: old.id, cause }];
  }
  return [];
}

/** Of those being replaced side by side the one that was to go first goes first. */
function isOldest({ rollout, instances }: World, old: Instance): boolean {
  const before = rollout?.targets.slice(0, Math.max(0, rollout.targets.indexOf(old.id))) ?? [];
  return !instances.some((one) => {
    const waits = one.service === old.service && one.wanted === "up" && isLiving(one);
    return waits && one.replaceCause !== null && !one.aside && before.includes(one.id);
  });
}

/** Another one may have crashed meanwhile: then the old one works on until that place is filled again. */
function mayLeave(old: Instance, service: ServiceFacts, up: readonly Instance[]): boolean {
  return !isServing(old) || up.filter(isServing).length > service.wanted;
}

/** An old one of a rollout whose new ones must stand first ends with its wave. */
function maySettle(world: World, old: Instance): boolean {
  const { rollout } = world;
  if (rollout?.targets.includes(old.id) !== true) return true;
  return waveStood(world, mayReplaceNext(world, rollout) || isAboutToStart(world, rollout));
}

/** A successor was decided on, and there is room for it. */
function isAboutToStart(world: World, rollout: RolloutFacts): boolean {
  return targetsOf(world, rollout).some((one) => {
    const service = world.services.find(({ name }) => name === one.service);
    const asked = one.replaceCause !== null && one.wanted === "up" && isLiving(one);
    if (!asked || service === undefined || world.instances.some(({ replaces }) => replaces === one.id)) return false;
    return !service.held && !world.paused && mayStart(world, service);
  });
}

/** The rollout's new instance that crashed, was not ready in time, is to be replaced itself or answers worse. */
function failedOfRollout(world: World): { readonly instance: string; readonly reason: string | null } | null {
  const { rollout } = world;
  if (rollout === null || rollout.failure !== null) return null;
  const fresh = freshOf(world, rollout);
  const oldOf = (one: Instance) => world.instances.find(({ id }) => id === one.replaces);
  const stands = (old: Instance | undefined): boolean => old?.wanted === "up" && isLiving(old);
  const failed = fresh.find((one) => {
    if (one.state !== "backoff" && one.state !== "unhealthy") return false;
    const old = oldOf(one);
    return old === undefined ? rollout.confirmMs > 0 || one.readyMs === null : stands(old);
  });
  if (failed !== undefined) return { instance: failed.id, reason: null };
  // Over its memory limit, for one: what did not stand is not replaced by another of its kind.
  const unfit = fresh.find((one) => rollout.confirmMs > 0 && one.replaceCause !== null && stands(oldOf(one)));
  if (unfit !== undefined) return { instance: unfit.id, reason: unfit.replaceCause };
  return isUndone(rollout) ? null : rollout.worse;
}

function stepRollout(world: World): Action[] {
  const { rollout } = world;
  if (rollout === null) return [];
  const mayEnd = !rollout.open;
  const targets = targetsOf(world, rollout);
  const fresh = world.instances.filter((one) => one.rollout === rollout.id);
  const leaving = targets.filter((one) => one.wanted === "down" && isLiving(one));
  // Those on their way out belong to it until they are gone; a long drain is not waited for, but named at its end.
  const isAwaited = (one: Instance): boolean => world.nowMs - (one.signalledMs ?? world.nowMs) < PATIENCE_MS;
  const goes = fresh.some((one) => one.wanted === "down" && isLiving(one) && (one.wasKilled || isAwaited(one)));
  if (rollout.failure !== null) {
    // Whoever was being filled beside the failed one stays as it is, and the removed ones must be gone before we say so.
    const filled = (old: Instance): boolean => world.instances.some((one) => one.replaces === old.id && takesOver(one));
    const kept = targets.filter((one) => one.wanted === "up" && one.replaceCause !== null && !filled(one));
    if (kept.length > 0) return kept.map(({ id }): Action => ({ kind: "keep", instance: id }));
    if (!mayEnd || leaving.some(isAwaited) || goes) return [];
    return [{ kind: "end", state: "failed" }];
  }
  const standing = targets.filter((one) => one.wanted === "up" && isLiving(one));
  const crashed = targets.filter((one) => one.state === "backoff" && one.wanted === "up");
  const up = freshOf(world, rollout);
  const undone = isUndone(rollout) && (standing.length + crashed.length > 0 || up.length === 0);
  const sharing = isSharing(world);
  const isFilled = (old: Instance): boolean =>
    old.aside || (sharing && world.instances.some((one) => one.replaces === old.id && takesOver(one)));
  const filling = standing.filter((one) => one.replaceCause !== null && !isFilled(one));
  if (!undone && filling.length > 0) return fillBeside(world, rollout, filling);
  if (rollout.cancelled && mayEnd && (rollout.confirmMs === 0 || undone)) {
    return leaving.some(isAwaited) || goes ? [] : [{ kind: "end", state: "cancelled" }];
  }
  const again = world.paused
    ? []
    : crashed.filter((one) => one.rollout !== rollout.id && !world.instances.some((next) => next.replaces === one.id));
  if (again.length > 0) return again.map(({ id }): Action => ({ kind: "retry", instance: id, rollout: rollout.id }));
  const mayGo = ({ id }: Instance): boolean => !sharing || rollout.share?.first.includes(id) === true;
  const next = standing.find((one) => one.replaceCause === null && mayGo(one));
  if (next === undefined && sharing) return [];
  if (next === undefined) {
    const complete = standing.length + crashed.length === 0 && up.every((one) => hasStood(one, rollout, world.nowMs));
    return mayEnd && leaving.length === 0 && complete ? [{ kind: "end", state: "succeeded" }] : [];
  }
  if (!mayReplaceNext(world, rollout)) return [];
  return [{ kind: "replace", instance: next.id, cause: world.text.cause.rollout(rollout.id) }];
}

/**
 * The second of a pair beside its first, of what has stood before. By facts that stay while it goes on (the order, room
 * for all there is twice over): the steps shown before are the steps taken, however long each takes.
 */
function fillBeside(world: World, rollout: RolloutFacts, filling: readonly Instance[]): Action[] {
  const [first] = filling;
  if (first === undefined || filling.length > 1 || rollout.confirmMs > 0 || rollout.cancelled) return [];
  const ofService = ({ service }: Instance): boolean => service === first.service;
  const isFirst = freshOf(world, rollout).filter(ofService).length % 2 === 1;
  const next = targetsOf(world, rollout).find(
    (one) => ofService(one) && one.wanted === "up" && one.replaceCause === null,
  );
  if (next === undefined || !isLiving(next) || !isFirst) return [];
  const hasBegun = world.instances.some(({ replaces }) => replaces === first.id);
  if (!hasBegun || world.paused || world.surge !== "auto" || !hasRoomForTwo(world, next.service)) return [];
  return [{ kind: "replace", instance: next.id, cause: world.text.cause.rollout(rollout.id) }];
}

function targetsOf(world: World, rollout: RolloutFacts): readonly Instance[] {
  const byId = new Map(world.instances.map((one) => [one.id, one]));
  return rollout.targets.flatMap((id) => byId.get(id) ?? []);
}

/** May the next old one be replaced now, beside those that are set aside or on their way out? */
function mayReplaceNext(world: World, rollout: RolloutFacts): boolean {
  const targets = targetsOf(world, rollout);
  const next = targets.find((one) => one.wanted === "up" && isLiving(one) && one.replaceCause === null);
  const service = world.services.find(({ name }) => name === next?.service);
  if (service === undefined || service.held || world.paused) return false;
  const going = targets.filter((one) => isLiving(one) && (one.wanted === "down" || one.aside));
  return (world.surge === "auto" || going.length < world.surge) && mayStart(world, service);
}

function hasRoomForTwo(world: World, name: string): boolean {
  const service = world.services.find((one) => one.name === name);
  if (service === undefined || service.held) return false;
  const twice = world.services.reduce((sum, one) => sum + 2 * one.wanted * one.connections, 0);
  if (twice > 0 && (world.connectionLimit === null || twice + OWN_CONNECTIONS > world.connectionLimit)) return false;
  return service.memoryBytes === null || world.memoryBytes === null || 2 * service.memoryBytes <= world.memoryBytes;
}

/**
 * May one more instance of the service run beside all that live, draining ones too? When nothing is on its way out
 * there is nothing to wait for: then a surge of one goes on, which was said before the start.
 */
function mayStart(world: World, service: ServiceFacts): boolean {
  if (service.connections === 0 && service.memoryBytes === null) return true;
  const living = world.instances.filter(isLiving);
  if (!living.some(({ wanted, aside }) => wanted === "down" || aside)) return true;
  const declared = living.map((one) => world.services.find(({ name }) => name === one.service)?.connections ?? 0);
  if (!admitInstance(declared, service, world.connectionLimit).admitted) return false;
  return world.memoryBytes === null || service.memoryBytes === null || service.memoryBytes <= world.memoryBytes;
}
