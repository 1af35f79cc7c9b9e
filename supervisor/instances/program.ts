// What a sort of process has of its own, be it a service or the proxy: how one is launched, watched, told to end.
// All else about its life is the same for each and stands in life.ts and departure.ts.

import type { Instance } from "../core/instance.ts";
import type { RunningProcess } from "../ports.ts";
import type { Changes } from "./book.ts";

type Blueprint = Pick<Instance, "release" | "configHash" | "target" | "stop">;

export interface Program {
  /** What a new one is started with; null: there is no such service any more. */
  blueprint(id: string, rollout: string | null): Blueprint | null;
  /** Starts it; `note` keeps what is known of it before it runs. Rejects with the reason why it does not run. */
  launch(instance: Instance, note: (changes: Changes) => void): Promise<RunningProcess>;
  /** It runs, started or adopted: look after its health and tell by `passed` and `failing` of life.ts. */
  watch(instance: Instance, process: RunningProcess): void;
  /** Tells it to end in order. */
  signal(instance: Instance): void;
  /** Its process is gone. */
  gone(instance: Instance): void;
  /** Removes what lies around of it. */
  cleanUp(instance: Instance): void;
  /** Gets requests by the routing table. */
  isRouted(): boolean;
  /** By the configuration of now; null: as it was started with. */
  graceMs(): number | null;
  /** It has to be ready within this. */
  startMs(rollout: string | null): number;
  /** So long unhealthy, and it is replaced; why, in the words of the record. */
  readonly unhealthyMs: number;
  readonly unhealthyCause: string;
  /** Nothing of it serves: it is killed, for a successor beside it would change nothing. */
  isDeaf(instance: Instance): boolean;
  /** What its newest check came to, when it failed. */
  lastCheck(instance: Instance): string | null;
  /** Of one that ended before it was ready: why, by its own words. */
  lastWords(instance: Instance): string | null;
}
