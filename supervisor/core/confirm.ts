// A change of what runs must stand before it is final. Pure, and asked again like all of `decide`.
//
//   with a share: the first new ones get a part of the clients beside the old ones, for its time; then as without
//   new one ready and routed -> its old one is set aside: out of the table, alive
//   every new one of the wave stood `confirmMs` -> the old ones end
//   a new one exits, fails its check, answers worse; cancelled -> the old ones are back at once, the new ones go
//
// Invariant: an old one is aside only while its successor gets requests; it ends only after that one has stood.

import { type Instance, isLiving, isServing } from "./instance.ts";
import type { Action, RolloutFacts, World } from "./world.ts";

/** A change of what runs that came to nothing: whom it has not ended yet stays. */
export function isUndone(rollout: RolloutFacts): boolean {
  return rollout.confirmMs > 0 && (rollout.failure !== null || (rollout.cancelled && !rollout.open));
}

/** The first new ones have a part of the clients so far: no old one is set aside, none but the first are replaced. */
export function isSharing(world: World): boolean {
  const { rollout } = world;
  const share = rollout?.share;
  if (rollout === null || share === undefined || isUndone(rollout)) return false;
  const first = share.first.map((id) => world.instances.find((one) => one.id === id));
  // Once over it stays so: whoever is set aside, or gone, was so after it.
  if (first.some((old) => old === undefined || old.wanted === "down" || old.aside)) return false;
  return !first.every((old) => {
    const next = old && successorOf(world, old);
    if (!takesOver(next) || next.readyMs === null || rollout.doubtful.includes(next.id)) return false;
    return world.nowMs - next.readyMs >= share.ms;
  });
}

/** Which of these old ones are replaced first: of each service that gets requests so many as the part asks for. */
export function firstOfShare(
  part: number,
  targets: readonly Pick<Instance, "id" | "service">[],
  isRouted: (service: string) => boolean,
): readonly string[] {
  const services = [...new Set(targets.map(({ service }) => service))].filter(isRouted);
  return services.flatMap((name) => {
    const own = targets.filter(({ service }) => service === name);
    return own.slice(0, Math.ceil(part * own.length)).map(({ id }) => id);
  });
}

/** Who is set aside or taken back, and, when the rollout came to nothing, which of its new ones go. */
export function holdOldOnes(world: World): Action[] {
  const { rollout } = world;
  const sharing = isSharing(world);
  return world.instances.flatMap((one): Action[] => {
    if (one.wanted === "down" || !isLiving(one)) return [];
    const actions: Action[] = [];
    const isTarget = rollout?.targets.includes(one.id) === true;
    const undone = rollout !== null && isTarget && isUndone(rollout);
    const next = successorOf(world, one);
    const aside =
      !sharing &&
      isTarget &&
      rollout !== null &&
      rollout.confirmMs > 0 &&
      !undone &&
      one.replaceCause !== null &&
      takesOver(next);
    if (one.aside !== aside) actions.push({ kind: "aside", instance: one.id, aside });
    if (undone && one.replaceCause !== null) actions.push({ kind: "keep", instance: one.id });
    if (next !== undefined && next.rollout !== null && one.replaceCause === null && mayGo(world, one, next, undone)) {
      actions.push({ kind: "leave", instance: next.id, cause: world.text.cause.takenBack(one.id) });
    }
    return actions;
  });
}

/** Its old one stays. What did not stand goes as soon as that one serves; any other only when it is one too many. */
function mayGo(world: World, old: Instance, next: Instance, undone: boolean): boolean {
  if (!isLiving(next)) return false;
  if (!isServing(next)) return true;
  if (undone) return isServing(old);
  const wanted = world.services.find(({ name }) => name === next.service)?.wanted ?? 0;
  return world.instances.filter((one) => one.service === next.service && isServing(one)).length > wanted;
}

/** May the old ones set aside end? Every new one has stood, and none can come before room is made for it. */
export function waveStood(world: World, mayReplaceNext: boolean): boolean {
  const { rollout } = world;
  if (rollout === null || rollout.confirmMs === 0) return true;
  if (isUndone(rollout) || isSharing(world)) return false;
  const fresh = freshOf(world, rollout);
  if (!fresh.every((one) => hasStood(one, rollout, world.nowMs))) return false;
  const waiting = rollout.targets.some((id) => {
    const old = world.instances.find((one) => one.id === id);
    return old?.wanted === "up" && !(isLiving(old) && takesOver(successorOf(world, old)));
  });
  return !waiting || !mayReplaceNext;
}

/** The new ones of a rollout, and those of its crashed targets that it starts again. */
export function freshOf(world: World, rollout: RolloutFacts): readonly Instance[] {
  return world.instances.filter(
    (one) => one.rollout === rollout.id && one.wanted === "up" && !rollout.targets.includes(one.id),
  );
}

/** Is it a new one of a rollout that must stand? */
export function isOnTrial(rollout: RolloutFacts | null, one: Instance): boolean {
  return rollout !== null && rollout.confirmMs > 0 && one.rollout === rollout.id;
}

export function hasStood(one: Instance, rollout: RolloutFacts, nowMs: number): boolean {
  if (rollout.doubtful.includes(one.id)) return false;
  return takesOver(one) && one.readyMs !== null && nowMs - one.readyMs >= rollout.confirmMs;
}

/** It may get requests in place of an old one. */
export function takesOver(next: Instance | undefined): next is Instance {
  return next?.state === "ready" && next.routed && next.leaving === null;
}

function successorOf(world: World, old: Instance): Instance | undefined {
  return world.instances.find((one) => one.replaces === old.id && one.wanted === "up");
}
