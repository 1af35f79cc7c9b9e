// What owld serves and owlctl reads of a team's own code: its releases, and programs run once beside it. As in
// control-api.ts: add, never rename.

/** POST /v1/deploys: one of `path`, `ref`, `release`. `services` empty: all of a team's own. */
export interface DeployRequest {
  readonly services?: readonly string[];
  /** A directory or an archive on owld's machine, absolute. */
  readonly path?: string;
  /** A commit, branch or tag of the checkout in `directory`, or in the first service's source. */
  readonly ref?: string;
  readonly directory?: string;
  /** One that lies here, or "before": the one that stood before the one in force. */
  readonly release?: string;
  /** The part of the clients it gets first; absent: as owl.yaml says. */
  readonly share?: number;
}

/** POST /v1/run: a program in a service's environment, once. */
export interface RunRequest {
  /** A service; with `inInstance` an instance too. */
  readonly target: string;
  /** Empty: the service, which has a schedule, runs now and goes on whoever listens. */
  readonly command: readonly string[];
  /** With the environment of an instance that serves. */
  readonly inInstance?: boolean;
}

/** What it says, as it comes; the last line is its end. `cause`: owld ended it. */
export type RunLine =
  | { readonly stream: "stdout" | "stderr"; readonly text: string }
  | {
      readonly exit: {
        readonly code: number | null;
        readonly signal: string | null;
        readonly cause: "aborted" | "late" | null;
      };
    };

/** A release of a team's own code. GET /v1/deploys, newest first. */
export interface OwnRelease {
  readonly id: string;
  readonly madeAt: string;
  /** What it was made of. */
  readonly from: string;
  /** Over all its names, modes and contents. */
  readonly sha256: string;
  readonly files: number;
  readonly bytes: number;
  /** When it last came into force, by service. */
  readonly stood: Readonly<Record<string, string>>;
}

/** A line of GET /v1/deploys. */
export interface ListedRelease extends OwnRelease {
  /** The services it is in force for. */
  readonly serves: readonly string[];
}
