// What the control server asks of the supervisor: the loop implements it, server.ts serves it, nobody else calls in.
// Invariant: an expected refusal is an OwlError with a code of problems.ts; anything else thrown is a bug (500).

import type {
  Changed,
  EventsQuery,
  Killed,
  LogLine,
  OwlEvent,
  PreflightLine,
  Rollout,
  RolloutLine,
  RolloutPlan,
  RolloutRequest,
  ScaleRequest,
  ShownConfig,
  StagedAnswer,
  StageRequest,
  Status,
  UpdateRequest,
  Why,
} from "../../config/control-api.ts";
import type { DeployRequest, ListedRelease, RunLine, RunRequest } from "../../config/deploy-api.ts";
import type { Text } from "../core/text/text.ts";

/** Query of GET /v1/logs. `target` null: every instance. */
interface LogsQuery {
  readonly target: string | null;
  readonly lines: number | null;
  readonly sinceMs: number | null;
  readonly follow: boolean;
  readonly mark: boolean;
}

/**
 * Refusals (OwlError codes): `service.unknown`, `instance.unknown`, `rollout.unknown` (names.ts builds them, with the
 * nearest name), `rollout.busy` (data.rollout: the running id), `config.invalid`, `budget.exceeded`,
 * `preflight.failed`, `service.stopped`, `disk.full`, `supervisor.stopping`.
 * What answers in sentences takes the caller's catalogue; a refusal is worded by the server. What is written down (a
 * rollout's notes and reason, events) is in the installation's language, for every reader of it.
 */
export interface Control {
  /** Its warnings in that language; without one in the installation's. */
  status(text?: Text): Promise<Status>;
  /** Starts a rollout and returns it as it stands; the work goes on whoever listens. */
  restart(request: RolloutRequest, askedBy?: string): Promise<Rollout>;
  planRestart(request: RolloutRequest, text: Text): Promise<RolloutPlan>;
  /** Newest first; `before`: those begun before the one of that id. */
  rollouts(query: { readonly limit: number; readonly before?: string }): Promise<readonly Rollout[]>;
  rollout(id: string): Promise<Rollout>;
  /**
   * Everything that happened in it so far, then what happens, then the rollout itself as the last line. Throws
   * `rollout.unknown` at once, before the first line. Ends without a last line when the signal aborts.
   */
  watchRollout(id: string, signal: AbortSignal): Promise<AsyncIterable<RolloutLine>>;
  /** Ends it after the current step. `id` null: the one that runs. */
  cancelRollout(id: string | null): Promise<Rollout>;
  events(query: EventsQuery, signal: AbortSignal): Promise<AsyncIterable<OwlEvent>>;
  logs(query: LogsQuery, signal: AbortSignal): Promise<AsyncIterable<LogLine>>;
  reload(text: Text): Promise<Changed>;
  planReload(text: Text): Promise<RolloutPlan>;
  scale(wanted: ScaleRequest, text: Text): Promise<Changed>;
  planScale(wanted: ScaleRequest, text: Text): Promise<RolloutPlan>;
  /** `name`: a service or an instance. */
  start(name: string, text: Text): Promise<Changed>;
  stop(name: string, text: Text): Promise<Changed>;
  /** SIGKILL to the group of that instance, a person's explicit act. */
  kill(instance: string, text: Text): Promise<Killed>;
  why(target: string, text: Text): Promise<Why>;
  /** Unpacks and verifies a release beside the running one; nothing else. */
  stageRelease(request: StageRequest): Promise<StagedAnswer>;
  update(request: UpdateRequest): Promise<Rollout>;
  planUpdate(request: UpdateRequest, text: Text): Promise<RolloutPlan>;
  /** `version` null: the release before this one. */
  rollback(version: string | null): Promise<Rollout>;
  planRollback(version: string | null, text: Text): Promise<RolloutPlan>;
  /** Makes a release of a team's own code, or goes back to one, and replaces what runs; the work goes on whoever listens. */
  deploy(request: DeployRequest): Promise<Rollout>;
  planDeploy(request: DeployRequest, text: Text): Promise<RolloutPlan>;
  /** The newest first. */
  ownReleases(): Promise<readonly ListedRelease[]>;
  /** Runs a program once; it ends when the signal aborts. */
  run(request: RunRequest, signal: AbortSignal): Promise<AsyncIterable<RunLine>>;
  preflight(text: Text): Promise<readonly PreflightLine[]>;
  config(): Promise<ShownConfig>;
  /** Resolves when it is decided; owld lets go of everything and exits 75 right after. */
  reexec(): Promise<void>;
  /** Begins a backup now; it shows in status and events. Throws `backup.off`, `backup.notNow`. */
  backUp(): Promise<void>;
  /** Sends a test notification by every channel; names those that took it. Throws `notify.off`, `notify.failed`. */
  tryNotices(): Promise<readonly ("mail" | "webhook")[]>;
  /** Where a ready bundled web instance listens, for `/v1/app/*`; null when there is none. */
  appTarget(): { readonly socket: string } | { readonly host: string; readonly port: number } | null;
}
