// Deploys: a new release of a team's own code is made, proved, and put in the place of the one that runs; or an earlier
// one is. The request only begins it; owld does the work and keeps it on record as a rollout.
//
//   copy -> before -> (whole, on the disk) -> handed over to the loop: replace, confirm -> in force, or taken back
//
// Invariants: until the release is whole nothing that runs is touched, and an owld killed there has changed nothing;
// from then on it is a rollout of the loop's like any other, which the next owld goes on with.

import type { Logger } from "pino";
import type { Config, ServiceConfig } from "../../../config/config.ts";
import type { Rollout, RolloutPlan } from "../../../config/control-api.ts";
import type { DeployRequest, ListedRelease, OwnRelease } from "../../../config/deploy-api.ts";
import { asError, OwlError } from "../../../config/errors.ts";
import type { Clearance } from "../../control/clearance.ts";
import type { Gate } from "../../control/gate.ts";
import { ONE_OFF } from "../../control/run.ts";
import { firstOfShare } from "../../core/confirm.ts";
import type { Instance } from "../../core/instance.ts";
import { changedReleases, type Releases } from "../../core/own-release.ts";
import { describePlan, inOrder, waitingSteps } from "../../core/rollout-plan.ts";
import { Refusal } from "../../core/text/refusal.ts";
import type { Text } from "../../core/text/text.ts";
import type { Share } from "../../core/world.ts";
import type { InstanceBook } from "../../instances/book.ts";
import type { ServiceWishes } from "../../instances/wishes.ts";
import type { ProcessTable } from "../../ports.ts";
import type { Planner } from "../../rollouts/planner.ts";
import type { RolloutRunner } from "../../rollouts/record.ts";
import type { Definitions } from "../../state/definitions.ts";
import { BEFORE } from "./before.ts";
import type { OwnReleases } from "./folder.ts";
import { createKeeper } from "./keeping.ts";
import { createMaker } from "./making.ts";
import { type Asked, describeSource, lookUp } from "./request.ts";
import type { Source } from "./sources.ts";

type DeployParts = Parameters<typeof createMaker>[0] &
  Parameters<typeof createKeeper>[0] & {
    readonly log: Logger;
    /** The installation's language: whatever is recorded is recorded in it. */
    readonly record: Text;
    readonly book: Pick<InstanceBook, "services" | "all">;
    readonly wishes: Pick<ServiceWishes, "replicas">;
    readonly mark: string;
    readonly table: Pick<ProcessTable, "marked" | "killGroup">;
    readonly gate: Gate;
    readonly clearance: Clearance;
    readonly planner: Planner;
    readonly rollouts: RolloutRunner;
    readonly definitions: Definitions;
    readonly releases: OwnReleases;
    readonly config: () => Config;
    readonly connectionLimit: () => number | null;
    readonly wake: () => void;
  };

export interface Deploys {
  readonly control: {
    deploy(request: DeployRequest): Promise<Rollout>;
    planDeploy(request: DeployRequest, text: Text): Promise<RolloutPlan>;
    ownReleases(): Promise<readonly ListedRelease[]>;
  };
  /** Ends what an earlier owld was killed in, and clears up after it. */
  start(): void;
  stop(): Promise<void>;
}

export function createDeploys(parts: DeployParts): Deploys {
  const { rollouts, definitions, releases, gate, record } = parts;
  const make = createMaker(parts);
  const follow = createKeeper(parts);
  const ends = new AbortController();
  /** One after another: what an earlier one left is cleared up before anything new is begun. */
  let working: Promise<void> = Promise.resolve();

  function inTurn(work: () => Promise<void>): void {
    working = working.then(work).catch((error: unknown) => {
      if (!ends.signal.aborted) parts.log.error({ err: asError(error) }, "a deploy stopped by a fault of ours");
    });
  }

  async function ask(request: DeployRequest): Promise<Asked> {
    const all = await releases.all();
    return await lookUp(request, { config: parts.config(), gate, inForce: definitions.releases(), all });
  }

  /** Living and crashed ones of these services, the oldest of each first. */
  function targetsOf(services: readonly ServiceConfig[]): readonly Instance[] {
    const names = services.map(({ name }) => name);
    const isTarget = (one: Instance): boolean =>
      names.includes(one.service) && one.wanted === "up" && one.state !== "exited";
    const order = parts.config().services.map(({ name }) => name);
    return inOrder(parts.book.services().filter(isTarget), order);
  }

  function forecast(services: readonly ServiceConfig[], part: number | null, config: Config = parts.config()) {
    const targets = targetsOf(services);
    const isRouted = (name: string): boolean => services.some((one) => one.name === name && one.routes.length > 0);
    const asked = part ?? config.deploy.share.part;
    const first = firstOfShare(asked, targets, isRouted);
    const share = first.length === 0 ? undefined : { part: asked, ms: config.deploy.share.ms, first };
    // With a share there is always somebody to go back to.
    const confirmMs = Math.max(config.rollout.confirmMs, share === undefined ? 0 : 1);
    return { targets, confirmMs, share, told: parts.planner({ targets, config, confirmMs, share }) };
  }

  /** From here on the loop replaces what runs, and settles what is in force. The rollout's id, if there is one. */
  function handOver(next: Releases, services: readonly ServiceConfig[], part: number | null): string | null {
    const definition = { ...definitions.released(next), releases: next };
    const { targets, confirmMs, share, told } = forecast(services, part, definition.config);
    if (targets.length === 0) {
      definitions.take(definition);
      rollouts.close("succeeded", null);
      return null;
    }
    const { expectedMs, worstMs } = told;
    const ids = targets.map(({ id }) => id);
    const handed = { confirmMs, estimate: { expectedMs, worstMs }, ...(share === undefined ? {} : { share }) };
    const rollout = definitions.tryOut(definition, () => rollouts.handOver(ids, waitingSteps(told), handed));
    parts.wake();
    return rollout.id;
  }

  async function run(source: Source, services: readonly ServiceConfig[], part: number | null): Promise<void> {
    const id = await make(source, services, ends.signal);
    if (id === null) return;
    const names = services.map(({ name }) => name);
    await follow(handOver(changedReleases(definitions.releases(), names, id), services, part), ends.signal);
  }

  /** What is gone back to must be what it was. */
  async function refuseChanged(next: Releases): Promise<void> {
    const present = Object.values(definitions.releases());
    for (const release of await releases.all()) {
      if (!Object.values(next).includes(release.id) || present.includes(release.id)) continue;
      if (!(await releases.isIntact(release, ends.signal)))
        throw new Refusal("deploy.changed", ({ refused }) => refused.deploy.changed(release.id));
    }
  }

  /** What a new release will run is looked for in it once it is made: before the first one there may be nothing here. */
  async function clear(asked: Asked): Promise<readonly string[]> {
    gate.refuseWhileBusy();
    gate.refuseWithoutDisk();
    gate.refuseOverBudget(parts.config(), parts.wishes.replicas);
    if (asked.kind === "back") return await parts.clearance.ask(definitions.released(asked.releases).config);
    const config = parts.config();
    const deployed = asked.services.map(({ name }) => name);
    const others = config.services.filter(({ name }) => !deployed.includes(name));
    return await parts.clearance.ask({ ...config, services: others });
  }

  return {
    control: {
      async deploy(request) {
        const asked = await ask(request);
        const warned = await clear(asked);
        if (asked.kind === "back") await refuseChanged(asked.releases);
        // Meanwhile another one may have begun.
        gate.refuseWhileBusy();
        const { services } = asked;
        const part = request.share ?? (asked.kind === "back" ? 0 : null);
        const { told, ...how } = forecast(services, part);
        const { expectedMs, worstMs } = told;
        const notes = [...warned, ...saidBefore(asked, how, record)];
        const kind = asked.kind === "make" ? "deploy" : "rollback";
        const rollout = rollouts.begin(kind, [], [], { expectedMs, worstMs }, { open: true, notes });
        if (asked.kind === "make") inTurn(() => run(asked.source, services, part));
        else {
          const id = handOver(asked.releases, services, part);
          inTurn(() => follow(id, ends.signal));
        }
        return rollouts.get(rollout.id) ?? rollout;
      },
      async planDeploy(request, text) {
        const asked = await ask(request);
        const { told, ...how } = forecast(asked.services, request.share ?? (asked.kind === "back" ? 0 : null));
        const notes = [...whatRuns(asked, text), ...saidBefore(asked, how, text)];
        const plan = describePlan(told, true, parts.connectionLimit(), notes, text);
        return { ...plan, steps: [...ownSteps(asked), ...plan.steps] };
      },
      async ownReleases() {
        const inForce = Object.entries(definitions.releases());
        const serves = ({ id }: OwnRelease): string[] => inForce.flatMap(([name, of]) => (of === id ? [name] : []));
        return (await releases.all()).map((one) => ({ ...one, serves: serves(one) }));
      },
    },
    start() {
      for (const left of parts.table.marked(parts.mark))
        if (left.leader && [BEFORE, ONE_OFF].some((name) => left.instance.startsWith(`${name}-`)))
          parts.table.killGroup(left.identity);
      const running = rollouts.running();
      const isCut = running?.kind === "deploy" && rollouts.facts()?.open === true;
      if (isCut) rollouts.close("failed", record.recorded.deploy.cut);
      inTurn(async () => {
        await releases.sweep();
        await follow(isCut ? null : (running?.id ?? null), ends.signal);
      });
    },
    async stop() {
      ends.abort(new OwlError("supervisor.stopping", "owld is stopping."));
      await working;
    },
  };
}

/** What runs then, in place of what. */
function whatRuns(asked: Asked, { recorded: { deploy } }: Text): readonly string[] {
  if (asked.kind === "make") return [deploy.makes(describeSource(asked.source))];
  return asked.services.map(({ name }) => {
    const release = asked.releases[name];
    return release === undefined ? deploy.toSource(name) : deploy.replaces(name, release);
  });
}

/** Those before anything is replaced. */
function ownSteps({ kind, services }: Asked): RolloutPlan["steps"] {
  if (kind === "back") return [];
  const hasBefore = services.some(({ code }) => (code?.before.length ?? 0) > 0);
  return (hasBefore ? ["copy", "before"] : ["copy"]).map((action) => ({ service: "owl", action, instance: null }));
}

interface How {
  readonly confirmMs: number;
  readonly share: Share | undefined;
}

function saidBefore({ services, kind }: Asked, { confirmMs, share }: How, { recorded }: Text): readonly string[] {
  const before = services.reduce((sum, { code }) => sum + (code?.before.length ?? 0), 0);
  return [
    ...(kind === "make" && before > 0 ? [recorded.deploy.runsBefore(before)] : []),
    ...(share === undefined ? [] : [recorded.deploy.shares(share.part * 100, share.ms / 1_000)]),
    ...(confirmMs > 1 ? [recorded.rollout.confirms(confirmMs / 1_000)] : []),
  ];
}
