// The definitions of what runs: the one in force, and the one that a reload's rollout tries out.
// Invariants: a definition comes into force when its instances have stood, never before; what an instance is started
// by is asked for here; what lies in owl.yaml and is not in force is said until it is.

import type { Logger } from "pino";
import type { AppConfig, Config, ServiceConfig } from "../../config/config.ts";
import type { Rollout } from "../../config/control-api.ts";
import { asError } from "../../config/errors.ts";
import type { HomePaths } from "../../config/home.ts";
import type { Environment } from "../../config/locate.ts";
import { type Instance, isLiving } from "../core/instance.ts";
import { codeOf, earlierReleases, type Releases } from "../core/own-release.ts";
import { wordsOf } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";
import type { InstanceBook } from "../instances/book.ts";
import { configHash, instanceEnv } from "../instances/launch.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import { type DefinitionRecord, type DefinitionText, hashOf, type Refused, writeDefinition } from "./definition.ts";

interface Definition {
  readonly config: Config;
  readonly text: DefinitionText;
  /** Releases other than those in force; absent: the same. */
  readonly releases?: Releases;
}

export interface Definitions {
  /** Reads owl.yaml. Throws `config.invalid`; then it is not in force, and that is said. */
  read(): Definition;
  /** Reads owl.yaml to say what it would do. Throws `config.invalid`. */
  look(): Config;
  /** The one in force, with other releases of a team's own code. */
  released(releases: Releases): Definition;
  /** The releases in force. */
  releases(): Releases;
  /** Where the code lies that the service ran before its present release, the newest first. */
  codeBefore(service: string): readonly string[];
  /** A rollout tries one out. */
  isTrying(): boolean;
  /** Those that are in force or tried out. */
  usedReleases(): readonly string[];
  /** What `ask` refuses is not in force, and that is said. */
  clear<T>(definition: Definition, ask: () => Promise<T>): Promise<T>;
  /** The one in force, run from other code. */
  reload(root: string): Config;
  /** By what an instance lives: that of its rollout while it is tried out, else the one in force. */
  of(instance: Pick<Instance, "rollout">): Config;
  serviceOf(instance: Pick<Instance, "rollout" | "service">): ServiceConfig | null;
  /** The environment it would get now; null: it has no service. */
  envOf(instance: Instance): Record<string, string> | null;
  /** By what a new one of that rollout is started. */
  forNew(rollout: string | null): Config;
  /** Comes into force at once: nothing that runs is replaced by it. */
  take(definition: Definition): void;
  /** Comes into force when that rollout has succeeded. */
  tryOut(definition: Definition, begin: () => Rollout): Rollout;
  refuse(text: DefinitionText | undefined, reason: string): void;
  /** The rollout whose change stood, as long as it may be gone back from. */
  mayGoBackFrom(): string | null;
  /** That change stays. */
  keep(): void;
  /** Tries out what held before it; it cannot be read or begun: the change stays. */
  goBack(reason: string, begin: (config: Config) => Rollout): void;
  /** Takes or refuses what was tried out when its rollout is over; to be asked again and again. True when it was. */
  settle(): boolean;
  /** Why what lies in owl.yaml is not in force; null: it is, or it is being tried out. */
  notInForce(): ((text: Text) => string) | null;
  /** Everything has ended in order. */
  stopped(): void;
}

interface DefinitionParts {
  readonly journal: Journal;
  readonly rollouts: Pick<RolloutRunner, "get" | "facts" | "cancel">;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly kept: DefinitionRecord;
  readonly readText: () => DefinitionText;
  readonly load: (text: DefinitionText, releases: Releases, root?: string) => Config;
  readonly inForce: () => Config;
  readonly use: (config: Config) => void;
  readonly app: (config: Config) => AppConfig | null;
  readonly book: InstanceBook;
  readonly paths: HomePaths;
  readonly log: Logger;
  readonly mark: string;
  readonly environment: Environment;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the one record of what is in force, changed by these methods only.
export function createDefinitions(parts: DefinitionParts): Definitions {
  const { journal, rollouts } = parts;
  const say = parts.record.recorded.definition;
  let record = parts.kept;
  let trial: Config | null = null;
  const releases = (): Releases => record.releases ?? {};
  const loadTrial = ({ text, releases: tried = releases() }: NonNullable<DefinitionRecord["trial"]>): Config =>
    parts.load(text, tried);
  resume();

  function resume(): void {
    const running = rollouts.facts();
    // Killed between this record and the rollout's: the one that runs is the one it is for.
    const rollout = record.trial?.rollout ?? running?.id ?? null;
    put({ trial: record.trial === null || rollout === null ? null : { ...record.trial, rollout } });
    if (record.trial === null || running === null || running.id !== rollout) return;
    try {
      trial = loadTrial(record.trial);
    } catch (error) {
      failed(error);
      rollouts.cancel();
    }
  }

  function failed(error: unknown): void {
    parts.log.error({ err: asError(error) }, "what owl.yaml asks for could not be done whole");
  }

  /** Kept in memory when the disk is full: then it is written with the next change. */
  function put(changes: Partial<DefinitionRecord>): void {
    record = { ...record, ...changes };
    try {
      writeDefinition(parts.paths.state, record);
    } catch (error) {
      failed(error);
    }
  }

  function take({ config, text, releases: taken }: Definition): void {
    const wasRefused = record.refused !== null;
    // Another release says nothing of what lies in owl.yaml.
    if (taken !== undefined) {
      const earlier = earlierReleases(record.earlier ?? {}, releases(), taken);
      put({ inForce: text, releases: taken, earlier, trial: null, before: null });
    } else put({ inForce: text, trial: null, refused: null, before: null });
    trial = null;
    parts.use(config);
    if (wasRefused && taken === undefined) journal.write({ type: "config.inForce", message: say.inForce });
  }

  function refuse(text: DefinitionText | undefined, reason: string): void {
    const [first = reason] = reason.split("\n");
    trial = null;
    // The one in force was put back: nothing differs.
    if (hashOf(text) === hashOf(record.inForce)) put({ trial: null, refused: null });
    else notTaken({ hash: hashOf(text), reason: first });
  }

  function notTaken(refused: Refused): void {
    put({ trial: null, refused });
    journal.write({ type: "config.refused", message: say.notInForce(refused.reason ?? "") });
  }

  function of({ rollout }: Pick<Instance, "rollout">): Config {
    return trial !== null && rollout === record.trial?.rollout ? trial : parts.inForce();
  }

  function serviceOf(instance: Pick<Instance, "rollout" | "service">): ServiceConfig | null {
    return of(instance).services.find(({ name }) => name === instance.service) ?? null;
  }

  return {
    read() {
      let text: DefinitionText | undefined;
      try {
        text = parts.readText();
        return { text, config: parts.load(text, releases()) };
      } catch (caught) {
        const error = asError(caught);
        refuse(text, error.message);
        throw error;
      }
    },
    look: () => parts.load(parts.readText(), releases()),
    released: (other) => ({ text: record.inForce, releases: other, config: parts.load(record.inForce, other) }),
    releases,
    codeBefore: (service) => (record.earlier?.[service] ?? []).map((id) => codeOf(parts.paths.ownReleases, id)),
    isTrying: () => record.trial !== null,
    // What was in force before is kept as long as `deploy.keep` keeps it: without it the change stays.
    usedReleases: () => [...Object.values(releases()), ...Object.values(record.trial?.releases ?? {})],
    async clear(definition, ask) {
      try {
        return await ask();
      } catch (caught) {
        refuse(definition.text, wordsOf(caught, parts.record).sentence);
        throw caught;
      }
    },
    reload: (root) => parts.load(record.inForce, releases(), root),
    of,
    serviceOf,
    envOf(instance) {
      const service = serviceOf(instance);
      if (service === null) return null;
      const { id, target, release } = instance;
      const { paths, mark, environment } = parts;
      return instanceEnv({ service, id, target, paths, mark, release, app: parts.app(of(instance)), environment });
    },
    forNew(rollout) {
      const facts = rollouts.facts();
      const isTried = trial !== null && rollout !== null && rollout === record.trial?.rollout && facts?.id === rollout;
      return isTried && trial !== null && facts.failure === null && !facts.cancelled ? trial : parts.inForce();
    },
    take,
    tryOut({ config, text, releases: tried }, begin) {
      const what = tried === undefined ? { text } : { text, releases: tried };
      // Before the rollout: killed in between, we know what it was about.
      put({ trial: { rollout: null, ...what } });
      const rollout = begin();
      put({ trial: { rollout: rollout.id, ...what } });
      trial = config;
      return rollout;
    },
    refuse,
    settle() {
      if (record.trial === null) return false;
      const tried = record.trial;
      const { rollout, text, releases: other } = tried;
      if (rollout === null) return false;
      const found = rollouts.get(rollout);
      if (found?.state === "running") return false;
      if (found?.state !== "succeeded" && other !== undefined) {
        put({ trial: null });
        trial = null;
      } else if (found?.state !== "succeeded")
        refuse(text, say.didNotStand(rollout, found?.reason?.split("\n")[0] ?? null));
      else {
        const before = { rollout, text: record.inForce, releases: releases() };
        try {
          const what = other === undefined ? { text } : { text, releases: other };
          take({ ...what, config: trial ?? loadTrial(tried) });
          if (tried.refused === undefined) put({ before });
          else notTaken(tried.refused);
        } catch (error) {
          // It stood, and a file it names went before this was written: the loop goes on with what is in force.
          refuse(text, asError(error).message);
        }
      }
      replaceOthers(parts);
      return true;
    },
    mayGoBackFrom: () => record.before?.rollout ?? null,
    keep: () => put({ before: null }),
    goBack(reason, begin) {
      const { before = null, inForce } = record;
      if (before === null) return;
      const { text, releases: other } = before;
      const refused = hashOf(text) === hashOf(inForce) ? {} : { refused: { hash: hashOf(inForce), reason } };
      try {
        const config = parts.load(text, other);
        put({ before: null, trial: { rollout: null, text, releases: other, ...refused } });
        const { id } = begin(config);
        put({ trial: { rollout: id, text, releases: other, ...refused } });
        trial = config;
      } catch (error) {
        put({ before: null, trial: null });
        failed(error);
      }
    },
    notInForce() {
      const { refused } = record;
      const isTried = trial !== null && record.trial?.releases === undefined;
      return refused === null || isTried ? null : ({ warnings }) => warnings.notInForce(refused.reason);
    },
    stopped: () => put({ bootId: null }),
  };
}

/** Those that came beside the rollout, or before it failed, and run by another definition than the one in force. */
function replaceOthers(parts: DefinitionParts): void {
  const now = parts.inForce();
  for (const one of parts.book.all()) {
    const service = now.services.find(({ name }) => name === one.service);
    if (service === undefined || one.wanted === "down" || !isLiving(one) || one.replaceCause !== null) continue;
    if (one.configHash === configHash(service, parts.app(now))) continue;
    parts.book.set(one.id, { replaceCause: parts.record.recorded.cause.configuration });
  }
}
