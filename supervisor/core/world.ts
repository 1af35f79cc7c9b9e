// What is decided from, and what may be decided: the facts of a moment and the actions. Types only.

import type { MonotonicMs } from "../../config/time.ts";
import type { Instance } from "./instance.ts";
import type { Recorded } from "./text/text.ts";

/** A service, or the proxy: a place to be filled like any other. */
export interface ServiceFacts {
  readonly name: string;
  /** How many there should be now: replicas, less those an operator stopped, 0 when the service is stopped. */
  readonly wanted: number;
  readonly connections: number;
  /** Peak memory of one instance so far x 1.2; null: not measured. */
  readonly memoryBytes: number | null;
  /** Nothing may be started yet (the database is not up). */
  readonly held: boolean;
  /** Services that must have one ready before the first of this one starts. */
  readonly dependsOn?: readonly string[];
  /** Whoever runs by another one is replaced, new first. null: only a rollout replaces (every service). */
  readonly configHash: string | null;
}

export interface Share {
  /** 0 to 1. */
  readonly part: number;
  /** How long the first new ones must stand with it. */
  readonly ms: number;
  /** The old ones that are replaced for it; all others wait. */
  readonly first: readonly string[];
}

export interface RolloutFacts {
  readonly id: string;
  /** Old instances in the order they go. */
  readonly targets: readonly string[];
  readonly failure: string | null;
  readonly cancelled: boolean;
  /** An update: replacing instances is one step of it, so it is ended by its runner alone. */
  readonly open: boolean;
  /** How long a new one must stand before its old one ends; 0: what runs does not change. */
  readonly confirmMs: number;
  /** A part of the clients goes to the new ones first. */
  readonly share?: Share;
  /** New ones whose newest check is not passed: they do not count as standing now. */
  readonly doubtful: readonly string[];
  /** A new one answers measurably worse than the old ones did. */
  readonly worse: { readonly instance: string; readonly reason: string } | null;
}

export interface World {
  /** Causes are written down in this. */
  readonly text: Recorded;
  /** The proxy first, then the services in the order of owl.yaml. */
  readonly services: readonly ServiceFacts[];
  readonly instances: readonly Instance[];
  readonly rollout: RolloutFacts | null;
  readonly surge: "auto" | number;
  /** PostgreSQL's limit for us; null: not known. */
  readonly connectionLimit: number | null;
  /** What may be used; null: not known. */
  readonly memoryBytes: number | null;
  /** Everything is to end. */
  readonly stopping: boolean;
  /** No rollout may go on (its steps cannot be written). */
  readonly paused: boolean;
  readonly nowMs: MonotonicMs;
}

export type Action =
  | {
      readonly kind: "start";
      readonly service: string;
      /** The living instance whose place it is to take. */
      readonly replaces: string | null;
      /** The crashed one it follows. */
      readonly follows: string | null;
      readonly rollout: string | null;
    }
  | { readonly kind: "leave"; readonly instance: string; readonly cause: string }
  | { readonly kind: "discard"; readonly instance: string }
  | { readonly kind: "replace"; readonly instance: string; readonly cause: string }
  /** Out of the table while its successor stands its time, or back in. */
  | { readonly kind: "aside"; readonly instance: string; readonly aside: boolean }
  /** It is not replaced after all. */
  | { readonly kind: "keep"; readonly instance: string }
  /** The rollout meets a place whose process had crashed: it is filled at once, its pauses begin anew. */
  | { readonly kind: "retry"; readonly instance: string; readonly rollout: string }
  /** A new instance of the rollout did not come up or did not stand. `reason` null: as its end tells. */
  | { readonly kind: "fail"; readonly instance: string; readonly reason: string | null }
  | { readonly kind: "end"; readonly state: "succeeded" | "failed" | "cancelled" };
