// Instance logs: the last lines, a search across rotation, following, rotation.
// Invariant: instances write their files themselves; owld only reads, copies and truncates.

import type { Config, LogLimits } from "../../config/config.ts";
import type { LogLine } from "../../config/control-api.ts";
import { type Clock, isoTime, type WallMs } from "../../config/time.ts";
import { formatSize } from "../../config/units.ts";
import { believedStamp, type TimeBounds } from "../core/log-time.ts";
import type { InstanceLogs } from "../ports.ts";
import { createLineReader, type LineReader, positionOfLast, type RawLine } from "./log-lines.ts";
import { createLogRotation } from "./log-rotate.ts";
import { createBounds, createLogText, type LogText, positionSince } from "./log-text.ts";

const FOLLOW_MS = 200;
const UNLIMITED: LogLimits = { sizeBytes: Number.POSITIVE_INFINITY, count: 2 };

interface InstanceLogsParts {
  readonly directory: string;
  readonly clock: Clock;
  /** The oldest of an instance's log were let go: the sentence to say in it. */
  readonly dropped?: (instance: string, bytes: number) => string;
  /** Instances whose logs must stay: everything alive, proxies too. */
  readonly living: () => ReadonlySet<string>;
  /** When it is rotated, and how much stays. Absent: nothing is. */
  readonly limits?: (instance: string) => LogLimits;
}

/** As owl.yaml says now, for an instance of a service or a proxy. */
export function limitsOf(config: () => Config): (instance: string) => LogLimits {
  return (instance) => {
    const { services, logs } = config();
    return services.find(({ name }) => name === instance.replace(/-\d+$/, ""))?.logs ?? logs;
  };
}

type Query = Parameters<InstanceLogs["read"]>[0];

/** A line with the instant it is sorted by: its own time, else the latest it can have been written. */
interface DatedLine {
  readonly order: WallMs;
  readonly line: LogLine;
}

interface Source {
  readonly instance: string;
  readonly reader: LineReader;
  readonly bounds: (position: number) => TimeBounds;
  /** The last stamp read: a line without one belongs to the line above it. */
  lastStamp: WallMs | null;
}

export function createInstanceLogs(parts: InstanceLogsParts): InstanceLogs {
  const rotation = createLogRotation({
    directory: parts.directory,
    limits: parts.limits ?? (() => UNLIMITED),
    now: () => parts.clock.now(),
    dropped: parts.dropped ?? ((_, bytes) => `${formatSize(bytes)} were let go.`),
    living: parts.living,
  });
  const textOf = (instance: string): LogText =>
    createLogText(parts.directory, instance, () => rotation.rotatedBytes(instance));

  const open = (instance: string, query: Query, from: WallMs | null): Source => {
    const text = textOf(instance);
    const bounds = createBounds(text);
    const first = text.segments().at(0)?.start ?? 0;
    const since = from === null ? first : positionSince(text, from);
    const last = query.lines === null ? first : positionOfLast(text, query.lines);
    const start = Math.max(since, last);
    const cut = start > first && start !== last;
    return { instance, reader: createLineReader(text, cut ? start - 1 : start, cut), bounds, lastStamp: null };
  };

  const date = (source: Source, raw: RawLine): DatedLine => {
    const bounds = source.bounds(raw.at);
    const stamp = believedStamp(raw.text, bounds);
    const line = { instance: source.instance, line: raw.text, at: stamp === null ? null : isoTime(stamp) };
    source.lastStamp = stamp ?? source.lastStamp;
    return { order: source.lastStamp === null ? bounds.to : Math.max(source.lastStamp, bounds.from), line };
  };

  return {
    async tail(instance, lines) {
      const text = textOf(instance);
      const reader = createLineReader(text, positionOfLast(text, lines), false);
      const found: string[] = [];
      for (const raw of drain(reader, true)) found.push(raw.text);
      return found.slice(-lines);
    },
    async *read(query, signal) {
      const from = query.sinceMs === null ? null : parts.clock.now() - query.sinceMs;
      const sources = new Map(query.instances.map((instance) => [instance, open(instance, query, from)]));
      const wanted = (dated: DatedLine): boolean => from === null || dated.order >= from;

      const streams = [...sources.values()].map((source) => pastLines(source, date, wanted, query, signal));
      yield* lastOf(merge(streams), query.lines, signal);
      if (!query.follow) return;
      if (query.mark) yield { instance: "", line: "", at: null, isMark: true };
      for await (const _ of parts.clock.every(FOLLOW_MS, signal)) {
        for (const instance of query.moreInstances?.() ?? []) {
          if (sources.has(instance)) continue;
          sources.set(instance, open(instance, { ...query, lines: null }, null));
        }
        for (const source of sources.values()) {
          for (const raw of drain(source.reader, false)) {
            if (signal.aborted) return;
            yield date(source, raw).line;
          }
        }
      }
    },
    rotate: () => rotation.run(),
    bound: rotation.bound,
  };
}

/** Everything there is by now; with `rest` also a last line without its newline. */
function* drain(reader: LineReader, rest: boolean): Generator<RawLine> {
  for (let lines = reader.next(); lines.length > 0; lines = reader.next()) yield* lines;
  const last = rest ? reader.rest() : null;
  if (last !== null) yield last;
}

/** The lines there are, filtered; with `lines` at most as many of the newest. Gives way to other work now and then. */
async function* pastLines(
  source: Source,
  date: (source: Source, raw: RawLine) => DatedLine,
  wanted: (dated: DatedLine) => boolean,
  query: Query,
  signal: AbortSignal,
): AsyncGenerator<DatedLine> {
  let order = Number.NEGATIVE_INFINITY;
  for (let lines = source.reader.next(); lines.length > 0 && !signal.aborted; lines = source.reader.next()) {
    for (const raw of lines) {
      const dated = date(source, raw);
      // Within one log the order of the file holds, whatever the stamps say.
      order = Math.max(order, dated.order);
      if (wanted(dated)) yield { ...dated, order };
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  // While following, the unfinished last line comes when it is finished.
  const last = query.follow ? null : source.reader.rest();
  if (last !== null && wanted(date(source, last))) yield date(source, last);
}

/** One stream in order of time; equal times in order of the streams. */
async function* merge(streams: readonly AsyncGenerator<DatedLine>[]): AsyncGenerator<DatedLine> {
  const heads = await Promise.all(streams.map((stream) => stream.next()));
  for (;;) {
    let first: number | null = null;
    for (const [index, head] of heads.entries()) {
      if (head.done) continue;
      const best = first === null ? undefined : heads[first];
      if (best === undefined || best.done || head.value.order < best.value.order) first = index;
    }
    const head = first === null ? undefined : heads[first];
    const stream = first === null ? undefined : streams[first];
    if (first === null || head === undefined || head.done || stream === undefined) return;
    yield head.value;
    heads[first] = await stream.next();
  }
}

/** The last `count` lines of a stream, all for null. */
async function* lastOf(
  stream: AsyncIterable<DatedLine>,
  count: number | null,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const kept: LogLine[] = [];
  for await (const { line } of stream) {
    if (signal.aborted) return;
    if (count === null) yield line;
    else {
      kept.push(line);
      if (kept.length > count) kept.shift();
    }
  }
  yield* kept;
}
