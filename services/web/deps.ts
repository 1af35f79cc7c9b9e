// Everything the web application is given: one object, built by main.ts (and by tests).

import type { Logger } from "pino";
import type { AppConfig } from "../../config/config.ts";
import type { Clock, Random } from "../../config/time.ts";
import type { Tracing } from "../../config/traces.ts";
import type { Listener } from "../db/listen.ts";
import type { Database } from "../db/pool.ts";
import type { JobQueue } from "../db/queue.ts";
import type { Text } from "../text/text.ts";
import type { AccountGate } from "./account-limits.ts";
import type { EventStreams } from "./event-stream.ts";
import type { PasswordWork } from "./password-work.ts";
import type { WireApp } from "./wire.ts";

export interface WebDeps {
  readonly config: AppConfig;
  readonly instance: string;
  readonly release: string;
  readonly db: Database;
  /** A few connections for what may be slow and is not asking: it never waits for them, nor they for it. */
  readonly aside: Database;
  /** Where searches and batch plans pass. */
  readonly searches: AccountGate;
  readonly queue: JobQueue;
  readonly listener: Listener;
  readonly streams: EventStreams;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly text: Text;
  readonly passwords: PasswordWork;
  /** Absent, null: nothing is traced. */
  readonly tracing?: Tracing | null;
  /** Null: ready. Else why not, in a few words (for /readyz). */
  notReady(): string | null;
}

/** A route file's one export: adds one resource's routes. Listed in app.ts. */
export type Routes = (app: WireApp, deps: WebDeps) => void;
