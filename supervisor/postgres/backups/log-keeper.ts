// The log of PostgreSQL into the backup directory: what has come is written every few seconds, whole segments are joined.
// Invariant: the server is told that bytes are safe only when they are on the directory's disk; what was in memory when
// this process ended is sent again.

import type { Clock, MonotonicMs } from "../../../config/time.ts";
import { Refusal } from "../../core/text/refusal.ts";
import { unpackWhole } from "./codec.ts";
import { isSameLine, type Lsn, mergeable, pieceName, segmentStart, type WalPiece } from "./core/wal.ts";
import type { OwnPlace } from "./directory.ts";
import type { Replication, ServerPosition } from "./replication.ts";
import { SLOT } from "./slot.ts";

/** Held at most before it is written at once; meanwhile the server waits. */
const HOLD_BYTES = 16 * 2 ** 20;

interface LogKeeperParts {
  readonly clock: Clock;
  readonly place: OwnPlace;
  readonly replication: Replication;
  readonly server: ServerPosition;
  readonly epoch: number;
  readonly everyMs: number;
  /** Brings over what the log may mention; the log waits for it, within a bound. */
  readonly before: () => Promise<void>;
  /** False while somebody copies the directory, whom a file that goes would fail. */
  readonly mayJoin: () => boolean;
  /** Something was written: how long its oldest byte had waited. */
  readonly wrote: (lagMs: number) => void;
}

export interface LogKeeper {
  /** True: the log does not lead on from what the directory has. */
  readonly hasGap: boolean;
  /** Runs until aborted, and writes the last of it then; throws what the directory or the server said. */
  run(signal: AbortSignal): Promise<void>;
  /** Does that between two writes: what it removes, nobody is just reading. */
  between(work: () => Promise<void>): Promise<void>;
  /** Resolves once the log up to there is in the directory. */
  reached(lsn: Lsn): Promise<void>;
  /** How long the oldest byte that is not in the directory waits by now. */
  waitingMs(): number;
}

export async function openLogKeeper(parts: LogKeeperParts): Promise<LogKeeper> {
  const { clock, place, replication, server } = parts;
  const { segmentBytes } = server;
  const line = { epoch: parts.epoch, timeline: server.timeline };
  const kept = segmentStart(await replication.slot(SLOT), segmentBytes);
  const own = (await place.pieces()).filter((piece) => isSameLine(piece, line));
  const reachedBefore = own.reduce<Lsn | null>((top, { to }) => (top === null || to > top ? to : top), null);
  const leadsOn = reachedBefore !== null && reachedBefore >= kept;
  let safe = leadsOn ? reachedBefore : kept;
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** A segment has ended since pieces were joined last. */
  let ended = false;
  /** One at a time. */
  let flushing: Promise<void> = Promise.resolve();
  let received = safe;
  let sinceMs: MonotonicMs | null = null;
  const waiting = new Set<{
    readonly lsn: Lsn;
    readonly resolve: () => void;
    readonly reject: (error: Error) => void;
  }>();

  async function write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const from = safe;
      const room = Number(segmentStart(from, segmentBytes) + segmentBytes - from);
      const part = bytes.subarray(at, at + room);
      await place.putPiece({ ...line, from, to: from + BigInt(part.length) }, [part]);
      safe = from + BigInt(part.length);
      at += part.length;
    }
  }

  function flush(confirm: (lsn: Lsn, nowMs: number) => void): Promise<void> {
    flushing = flushing.then(() => flushHeld(confirm));
    return flushing;
  }

  async function flushHeld(confirm: (lsn: Lsn, nowMs: number) => void): Promise<void> {
    if (held.length === 0) return confirm(safe, clock.now());
    const [chunks, fromMs, before] = [held, sinceMs ?? clock.monotonicMs(), safe];
    held = [];
    heldBytes = 0;
    sinceMs = null;
    try {
      await parts.before();
      await write(Buffer.concat(chunks));
    } catch (error) {
      sinceMs = fromMs;
      throw error;
    }
    confirm(safe, clock.now());
    parts.wrote(Math.round(clock.monotonicMs() - fromMs));
    for (const one of waiting) if (one.lsn <= safe) one.resolve();
    ended ||= segmentStart(before, segmentBytes) !== segmentStart(safe, segmentBytes);
    if (!ended || !parts.mayJoin()) return;
    ended = false;
    await join(place, segmentBytes);
  }

  return {
    hasGap: !leadsOn,
    waitingMs: () => (sinceMs === null ? 0 : clock.monotonicMs() - sinceMs),
    async run(signal) {
      const stream = replication.stream(SLOT, safe, line.timeline);
      const ended = new AbortController();
      const both = AbortSignal.any([signal, ended.signal]);
      const receive = async (): Promise<void> => {
        for await (const { at, bytes } of stream.chunks) {
          if (at !== received) throw new Refusal("backup.logGap", ({ refused }) => refused.backup.logGap());
          received = at + BigInt(bytes.length);
          sinceMs ??= clock.monotonicMs();
          held.push(bytes);
          heldBytes += bytes.length;
          if (heldBytes >= HOLD_BYTES) await flush(stream.confirm);
        }
      };
      const keep = async (): Promise<void> => {
        for await (const _ of clock.every(parts.everyMs, both)) await flush(stream.confirm);
        // Ended in order: nothing of what was done here stays behind.
        if (signal.aborted) await flush(stream.confirm);
      };
      try {
        // The server ends the stream when it stops; either way the other half is over too.
        await Promise.race([receive(), keep()]);
      } finally {
        ended.abort();
        await replication.end();
        for (const one of waiting) one.reject(new Refusal("backup.logGap", ({ refused }) => refused.backup.logGap()));
      }
    },
    async between(work) {
      const done = flushing.then(work);
      flushing = done.catch(() => undefined);
      await done;
    },
    async reached(lsn) {
      if (lsn <= safe) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const one = { lsn, resolve, reject };
      waiting.add(one);
      await promise.finally(() => waiting.delete(one));
    },
  };
}

/** Whole segments in one piece each: an hour of little work leaves hundreds of small ones. */
async function join(place: OwnPlace, segmentBytes: bigint): Promise<void> {
  for (const pieces of mergeable(await place.pieces(), segmentBytes)) {
    const [first] = pieces;
    if (first === undefined) continue;
    const from = segmentStart(first.from, segmentBytes);
    await place.putPiece({ ...first, from, to: from + segmentBytes }, contents(place, pieces, from));
    for (const piece of pieces) if (piece.to - piece.from < segmentBytes) await place.remove("wal", pieceName(piece));
  }
}

/** The bytes of these pieces from `from` on, each byte once. */
export async function* contents(
  place: Pick<OwnPlace, "file" | "key">,
  pieces: readonly WalPiece[],
  from: Lsn,
): AsyncGenerator<Buffer> {
  let at = from;
  for (const piece of pieces) {
    const bytes = await unpackWhole(place.file("wal", pieceName(piece)), piece.sha256, place.key);
    const skip = piece.from < at ? Math.min(bytes.length, Number(at - piece.from)) : 0;
    if (skip < bytes.length) yield bytes.subarray(skip);
    const end = piece.from + BigInt(bytes.length);
    if (end > at) at = end;
  }
}
