// How a new release comes to be: copied, its `before` run in it, made read-only, hashed, on the disk.
// Invariant: what fails or is cancelled on the way leaves nothing behind but its sentence.

import { join } from "node:path";
import type { Logger } from "pino";
import type { Config, ServiceConfig } from "../../../config/config.ts";
import { asError, OwlError } from "../../../config/errors.ts";
import { missingProgram } from "../../../config/find-program.ts";
import type { HomePaths } from "../../../config/home.ts";
import { type Clock, isoTime } from "../../../config/time.ts";
import { formatSize } from "../../../config/units.ts";
import { numberOfRelease } from "../../core/own-release.ts";
import { Refusal, wordsOf } from "../../core/text/refusal.ts";
import type { Text } from "../../core/text/text.ts";
import type { OneOff } from "../../ports.ts";
import type { RolloutRunner } from "../../rollouts/record.ts";
import type { Store } from "../../state/store.ts";
import { runBefore } from "./before.ts";
import type { OwnReleases } from "./folder.ts";
import { describeSource } from "./request.ts";
import { fillTree, type Source } from "./sources.ts";
import { createTree } from "./tree.ts";

interface MakerParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
  readonly store: Pick<Store, "next" | "raise">;
  readonly paths: HomePaths;
  readonly mark: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly oneOff: OneOff;
  readonly rollouts: Pick<RolloutRunner, "facts" | "step" | "close">;
  readonly releases: OwnReleases;
  readonly config: () => Config;
}

/** Its id; null: it failed or was cancelled, the rollout is closed, and nothing is left of it. Rejects when owld ends. */
type MakeRelease = (source: Source, services: readonly ServiceConfig[], ends: AbortSignal) => Promise<string | null>;

/** A person's word ends the copy or the command under way within this. */
const CANCEL_LOOK_MS = 200;

export function createMaker(parts: MakerParts): MakeRelease {
  const { clock, rollouts, releases, record } = parts;
  const words = record.recorded.deploy;

  async function take(step: "copy" | "before", message: string, work: () => Promise<string>): Promise<void> {
    rollouts.step(step, "running", message);
    try {
      rollouts.step(step, "done", await work());
    } catch (error) {
      rollouts.step(step, "failed", wordsOf(error, record).sentence);
      throw error;
    }
  }

  async function make(id: string, source: Source, services: readonly ServiceConfig[], signal: AbortSignal) {
    const from = describeSource(source);
    const { sizeBytes, beforeMs: limitMs } = parts.config().deploy;
    const code = await releases.begin(id);
    const hasBefore = services.some((one) => (one.code?.before.length ?? 0) > 0);
    const seal = async (): Promise<string> => {
      for (const service of services) refuseWithoutProgram(service, code);
      const made = await releases.finish(id, { from, madeAt: isoTime(clock.now()) }, signal);
      return words.copied(id, made.files, formatSize(made.bytes), made.sha256.slice(0, 12));
    };
    await take("copy", words.copies(from, id), async () => {
      const tree = createTree(code, sizeBytes);
      await fillTree(tree, source, parts.paths.home, signal);
      await tree.finish();
      if (tree.isEmpty()) throw new Refusal("deploy.empty", ({ refused }) => refused.deploy.empty(from));
      return hasBefore ? words.copies(from, id) : await seal();
    });
    if (!hasBefore) return;
    await take("before", words.runsBefore(services.length), async () => {
      const say = (message: string): void => rollouts.step("before", "running", message);
      await runBefore(parts, { id, code, limitMs, sizeBytes }, services, say, signal);
      return await seal();
    });
  }

  /** Looked for once all is there: a `before` may have built it. */
  function refuseWithoutProgram(service: ServiceConfig, code: string): void {
    const within = service.code?.within ?? null;
    if (within === null) return;
    const missing = missingProgram({ ...service, cwd: join(code, within) }, parts.environment.PATH);
    if (missing === null) return;
    const what = missing.kind === "cwd" ? within : missing.what;
    throw new Refusal("deploy.cannotStart", ({ preflight, refused }) =>
      refused.deploy.cannotStart(preflight.programs[missing.kind](service.name, what)),
    );
  }

  /** Higher than any that was given: a number names one release for ever. */
  async function nextId(): Promise<string> {
    const newest = (await releases.all())[0];
    parts.store.raise("own release", newest === undefined ? 0 : numberOfRelease(newest.id));
    return String(parts.store.next("own release"));
  }

  return async (source, services, ends) => {
    const cancel = new AbortController();
    const isCancelled = (): boolean => rollouts.facts()?.cancelled === true;
    const over = new AbortController();
    const looking = (async () => {
      for await (const _ of clock.every(CANCEL_LOOK_MS, over.signal)) if (isCancelled()) cancel.abort();
    })();
    const id = await nextId();
    try {
      await make(id, source, services, AbortSignal.any([ends, cancel.signal]));
      cancel.signal.throwIfAborted();
      return id;
    } catch (caught) {
      // The next owld clears up, and closes it.
      ends.throwIfAborted();
      await releases.remove(id).catch((error: unknown) => {
        parts.log.warn({ err: asError(error) }, "a half-made release was not removed");
      });
      if (!(caught instanceof OwlError) && !isCancelled())
        parts.log.error({ err: asError(caught) }, "a release was not made");
      const { sentence, next } = isCancelled() ? { sentence: words.cancelled } : wordsOf(caught, record);
      rollouts.close(isCancelled() ? "cancelled" : "failed", next === undefined ? sentence : `${sentence} ${next}`);
      return null;
    } finally {
      over.abort();
      await looking;
    }
  };
}
