// Every kind of fact the state file keeps beside the records of instances, rollouts, proxies and services: what it is
// for, and when it ends. Invariant: whoever keeps a fact does it through here, so that none is of two types and none
// is kept for ever unnoticed.

import type { NoticeRecord } from "../core/notices.ts";
import type { OrderRecord } from "../core/renewal.ts";
import type { UpdateCourse } from "../core/update-course.ts";
import type { DiskSample } from "../core/wear.ts";
import type { ScheduleRecord } from "../instances/schedules/record.ts";
import type { PastRelease } from "../ports.ts";
import type { RolloutTotals } from "../rollouts/totals.ts";
import type { Store } from "./store.ts";

interface StoredFacts {
  /** The update or rollback under way. Ends with it. */
  readonly update: UpdateCourse;
  /** Releases that ran here, newest first. Each ends when its directory is pruned. */
  readonly releases: readonly PastRelease[];
  /** Copies of the database that a failed way back left for a person. Kept with the copies themselves. */
  readonly "copies for rescue": readonly string[];
  /** Hash of the code the running proxies were started from. One value. */
  readonly "proxy code": string;
  /** Where instances' sockets lie when the home's path is too long. One value. */
  readonly socketDirectory: string;
  /** Where services of that user (its number) put their sockets. One value a user. */
  readonly [sockets: `sockets of ${number}`]: string;
  /** What all rollouts that ever ended came to. One value. */
  readonly "rollout totals": RolloutTotals;
  /** Which installation this is: a restored home is the same one. One value. */
  readonly installation: string;
  /** Where backups go, and under which name this home writes there. One value; a restore begins without it. */
  readonly "backup directory": {
    readonly directory: string;
    readonly holder: string;
    readonly held: boolean;
    /** How often a standby had been promoted there when this home wrote last. */
    readonly generation?: number;
    /** A standby follows. */
    readonly standby?: boolean;
  };
  /** When the first one ended here, from which on a drill is due. One value. */
  readonly "first backup": number;
  /** One value. */
  readonly "last backup": {
    readonly id: string;
    readonly at: number;
    readonly bytes: number;
    readonly elapsedMs: number;
  };
  /** What was free, by the path of a disk. Ends with the looking at that path; two weeks of it. */
  readonly "disk samples": Readonly<Record<string, readonly DiskSample[]>>;
  /** What people were told of, and are still to be. Ends when owl.yaml has no `notify`. */
  readonly notices: NoticeRecord;
  /** How long instances of that service took and what they used. Ends when owld starts without the service. */
  readonly [measures: `measures ${string}`]: ServiceMeasures;
  /** When a service runs next, what of it runs, how it ended. Ends with its service's schedule. */
  readonly [schedule: `schedule ${string}`]: ScheduleRecord;
  /** What became of an administrator's approval: begun once, also under a restored database. Ends after `APPROVAL_DAYS`. */
  readonly [approval: `approval ${string}`]: TakenApproval;
  /** Certificates ordered lately, oldest first; the oldest ones end. */
  readonly "certificate orders": readonly OrderRecord[];
  /** Authority and names of the certificate that was ordered last. One value. */
  readonly "certificate subject": string;
  /** How an archive in incoming/ was seen last. Ends when the archive is gone. */
  readonly [incoming: `incoming ${string}`]: SeenArchive;
}

export interface ServiceMeasures {
  readonly startMs: readonly number[];
  readonly drainMs: readonly number[];
  readonly peakRssBytes: number;
}

export interface TakenApproval {
  readonly rollout: string | null;
  readonly refused: string | null;
  /** Absent in facts of an owld that did not end them. */
  readonly at?: number;
}

interface SeenArchive {
  readonly seen: string;
  readonly done: boolean;
}

type FactName = keyof StoredFacts;

/** Longer than any copy of the database is kept that could hold an approval waiting once more. */
const APPROVAL_DAYS = 400;
const DAY_MS = 86_400_000;

export function readFact<Name extends FactName>(store: Pick<Store, "all">, name: Name): StoredFacts[Name] | null {
  return store.all<StoredFacts[Name]>("fact").get(name) ?? null;
}

export function keepFact<Name extends FactName>(store: Pick<Store, "put">, name: Name, value: StoredFacts[Name]): void {
  store.put("fact", name, value);
}

export function endFact(store: Pick<Store, "remove">, name: FactName): void {
  store.remove("fact", name);
}

/** Ends what nobody will ask for any more: measures of services that are gone, approvals long taken. */
export function endOldFacts(store: Store, services: readonly string[], nowMs: number): void {
  for (const [key, fact] of [...store.all<unknown>("fact")]) {
    const name = String(key);
    const isGone = name.startsWith("measures ") && !services.includes(name.slice("measures ".length));
    const at = name.startsWith("approval ") ? ((fact as TakenApproval).at ?? nowMs) : nowMs;
    if (isGone || nowMs - at > APPROVAL_DAYS * DAY_MS) store.remove("fact", key);
  }
}

/** Ends what was noted of archives that lie there no more. `lying`: their paths. */
export function endGoneArchives(store: Pick<Store, "all" | "remove">, lying: readonly string[]): void {
  for (const key of [...store.all("fact").keys()]) {
    const path = String(key).startsWith("incoming ") ? String(key).slice("incoming ".length) : null;
    if (path !== null && !lying.includes(path)) store.remove("fact", key);
  }
}
