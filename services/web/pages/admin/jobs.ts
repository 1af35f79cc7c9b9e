// Jobs of everybody as the administration reads them, and the filter as the address keeps it.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Job } from "../../../core/wire/job.ts";
import type { Page } from "../../../core/wire/parts.ts";
import { call } from "../api.ts";
import { mergeRows } from "../core/job-rows.ts";
import { failureText } from "../parts/failure.tsx";
import { keepRead } from "../resource.ts";

export type Kind = Job["kind"];
export type Filter = Job["state"] | "unfinished" | "ended";

export const KINDS = ["chat", "transcription", "playbook", "schema-analysis"] as const satisfies readonly Kind[];
export const FILTERS = [
  "unfinished",
  "queued",
  "running",
  "waiting",
  "failed",
  "stopped",
  "cancelled",
  "answered",
  "done",
  "ended",
] as const satisfies readonly Filter[];

export interface JobQuery {
  readonly kind: Kind | null;
  readonly state: Filter;
  readonly owner: string;
}

/** The filter an address names; what it cannot read is as if it were not there. */
export function queryOf(search: string): JobQuery {
  const found = new URLSearchParams(search);
  return {
    kind: KINDS.find((kind) => kind === found.get("kind")) ?? null,
    state: FILTERS.find((state) => state === found.get("state")) ?? "unfinished",
    owner: found.get("owner") ?? "",
  };
}

/** The filter as an address has it: `?kind=chat&state=failed`, empty for the usual one. */
export function searchOf({ kind, state, owner }: JobQuery): string {
  const parts = new URLSearchParams();
  if (kind !== null) parts.set("kind", kind);
  if (state !== "unfinished") parts.set("state", state);
  if (owner !== "") parts.set("owner", owner);
  const text = parts.toString();
  return text === "" ? "" : `?${text}`;
}

const PAGE = 50;
/** The most one reading gives: rows below are refreshed when the list is shown anew. */
const MOST = 200;
const EVERY_MS = 5_000;

interface JobList {
  /** null: not read yet. */
  readonly rows: readonly Job[] | null;
  readonly left: ReadonlySet<string>;
  /** New rows that are not shown yet. */
  readonly came: number;
  readonly hasMore: boolean;
  readonly failed: string | null;
  /** Reads the list from its start. */
  readonly reload: () => void;
  readonly more: () => void;
}

interface Shown {
  readonly rows: readonly Job[] | null;
  readonly left: ReadonlySet<string>;
  readonly came: number;
  readonly next: string | null;
}

const NOTHING: Shown = { rows: null, left: new Set(), came: 0, next: null };

/** The jobs of a filter (`search` as in the address), kept current without moving a row. */
export function useJobs(search: string): JobList {
  const [shown, setShown] = useState<Shown>(NOTHING);
  const [failed, setFailed] = useState<string | null>(null);
  const [asked, setAsked] = useState(0);
  const latest = useRef(shown);
  latest.current = shown;
  const of = useRef(search);

  const page = (rest: string, signal?: AbortSignal): Promise<Page<Job>> =>
    call(`/api/admin/jobs${search === "" ? "?" : `${search}&`}${rest}`, signal ? { signal } : {});

  useEffect(() => {
    if (of.current !== search) setShown(NOTHING);
    of.current = search;
    let isFirst = true;
    return keepRead(
      async (signal) => {
        const before = isFirst ? null : latest.current;
        const limit = Math.min(MOST, Math.max(PAGE, before?.rows?.length ?? 0));
        const { items, next } = await page(`limit=${limit}`, signal);
        if (signal.aborted) return;
        // Nothing is read where nothing is shown: what comes is shown at once.
        if (!before?.rows?.length) setShown({ rows: items, left: new Set(), came: 0, next });
        else {
          const flags = { isWhole: next === null, showsAll: before.next === null };
          setShown({ ...mergeRows(before.rows, items, flags), next: before.next });
        }
        isFirst = false;
      },
      setFailed,
      { pollMs: EVERY_MS },
    );
  }, [search, asked]);

  return {
    rows: shown.rows,
    left: shown.left,
    came: shown.came,
    hasMore: shown.next !== null,
    failed,
    reload: () => setAsked((now) => now + 1),
    more() {
      const { next } = shown;
      if (next === null) return;
      page(`limit=${PAGE}&before=${encodeURIComponent(next)}`).then(
        (answer) => {
          if (of.current !== search) return;
          setFailed(null);
          setShown((now) => {
            const known = new Set(now.rows?.map((row) => row.id));
            const rows = [...(now.rows ?? []), ...answer.items.filter((row) => !known.has(row.id))];
            return { ...now, rows, next: answer.next };
          });
        },
        (error: unknown) => setFailed(failureText(error)),
      );
    },
  };
}
