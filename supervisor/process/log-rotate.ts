// Rotation by copy and truncate (instances hold their log open for appending), notes of growth, and pruning.
// Invariants: no byte is lost by a crash of owld at any point (one copied twice may be shown twice); the last bytes
// are copied and the file truncated in one tick, so an instance can slip a line in between for microseconds only; what
// a log takes is bounded, by the oldest going where it grows faster than it is copied or the disk is full, and told.

import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { type LogLimits, MOST_LOG_FILES } from "../../config/config.ts";
import { asError, OwlError } from "../../config/errors.ts";
import type { WallMs } from "../../config/time.ts";

/** Logs of instances that are gone, kept per service. */
const KEPT_GONE = 10;
const COPYING = ".copying";
/** A log of so many limits is not waited for any more. */
const FAST_LIMITS = 4;
const LOOK_MS = 500;
/** What is kept of a log that is cut where it lies: no copy, so no free space is needed. */
const TAIL_BYTES = 262_144;

interface LogRotation {
  run(): Promise<void>;
  /** Cuts those that grow too fast to wait for `run`; cheap, to be called often. */
  bound(): void;
  /** Bytes of that instance's log rotated away since owld started. */
  rotatedBytes(instance: string): number;
}

interface LogRotationParts {
  readonly directory: string;
  readonly limits: (instance: string) => LogLimits;
  readonly now: () => WallMs;
  /** So many of the instance's oldest bytes are let go; answers the line that says so in the log. */
  readonly dropped: (instance: string, bytes: number) => string;
  /** Instances whose logs must stay: everything alive, proxies too. */
  readonly living: () => ReadonlySet<string>;
}

export function createLogRotation(parts: LogRotationParts): LogRotation {
  const rotated = new Map<string, number>();
  const noted = new Map<string, number>();
  let running: Promise<void> | null = null;
  let lookedAt = 0;

  const rotate = async (path: string, instance: string): Promise<void> => {
    for (;;) {
      try {
        await rotateByCopy(path, instance);
        return;
      } catch (error) {
        if (!isNoSpace(error)) throw error;
        rmSync(`${path}${COPYING}`, { force: true });
        const oldest = dropOldest(path);
        if (oldest === 0) {
          cut(path, instance);
          return;
        }
        parts.dropped(instance, oldest);
      }
    }
  };

  /** The last lines alone stay, where they lie. */
  const cut = (path: string, instance: string): void => {
    let bytes = 0;
    for (let gone = dropOldest(path); gone > 0; gone = dropOldest(path)) bytes += gone;
    const { size } = statSync(path);
    const tail = lastLines(path, size);
    const kept = Buffer.concat([Buffer.from(`${parts.dropped(instance, bytes + size - tail.length)}\n`), tail]);
    truncateSync(path);
    appendFileSync(path, kept);
    rmSync(`${path}.times`, { force: true });
    noted.set(instance, kept.length);
    // A position names the same byte as before: the last one of the file does.
    rotated.set(instance, (rotated.get(instance) ?? 0) + size - kept.length);
  };

  const rotateByCopy = async (path: string, instance: string): Promise<void> => {
    const copy = `${path}${COPYING}`;
    await copyFile(path, copy);
    // From here to the end nothing else of owld runs.
    const { atime, mtime } = statSync(path);
    // There may be more of them than are kept now.
    const most = parts.limits(instance).count - 1;
    for (let n = most; exists(`${path}.${n}`); n++) remove(`${path}.${n}`);
    for (let n = most - 1; n >= 1; n--) shift(`${path}.${n}`, `${path}.${n + 1}`);
    renameSync(copy, `${path}.1`);
    if (exists(`${path}.times`)) renameSync(`${path}.times`, `${path}.1.times`);
    const total = copyRest(path, `${path}.1`);
    truncateSync(path);
    utimesSync(`${path}.1`, atime, mtime);
    noted.set(instance, 0);
    rotated.set(instance, (rotated.get(instance) ?? 0) + total);
  };

  const runOnce = async (): Promise<void> => {
    const failures: Error[] = [];
    for (const instance of instancesIn(parts.directory)) {
      const path = join(parts.directory, `${instance}.log`);
      try {
        rmSync(`${path}${COPYING}`, { force: true });
        const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
        note(path, instance, size);
        if (size > parts.limits(instance).sizeBytes) await rotate(path, instance);
      } catch (error) {
        failures.push(asError(error));
        rmSync(`${path}${COPYING}`, { force: true });
      }
    }
    prune(parts.directory, parts.living());
    const [first] = failures;
    if (first === undefined) return;
    throw new OwlError("log.rotationFailed", `Rotating ${failures.length} logs failed: ${first.message}.`, {
      next: "Free some space on the disk of the logs; it is tried again.",
      cause: first,
    });
  };

  const note = (path: string, instance: string, size: number): void => {
    if (size === (noted.get(instance) ?? -1)) return;
    noted.set(instance, size);
    try {
      appendFileSync(`${path}.times`, `${size} ${parts.now()}\n`, { mode: 0o640 });
    } catch (error) {
      // Then its lines are dated less exactly; what matters on a full disk comes next.
      if (!isNoSpace(error)) throw error;
    }
  };

  return {
    run() {
      // Never two at once: the second would copy what the first is just truncating.
      running ??= runOnce().finally(() => {
        running = null;
      });
      return running;
    },
    bound() {
      const now = parts.now();
      if (running !== null || Math.abs(now - lookedAt) < LOOK_MS) return;
      lookedAt = now;
      for (const instance of parts.living()) {
        const path = join(parts.directory, `${instance}.log`);
        try {
          const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
          if (size > parts.limits(instance).sizeBytes * FAST_LIMITS) cut(path, instance);
        } catch {
          // `run` comes to it too, and tells what is in its way.
        }
      }
    },
    rotatedBytes: (instance) => rotated.get(instance) ?? 0,
  };
}

function instancesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(".log"))
      .map((name) => name.slice(0, -".log".length));
  } catch {
    return [];
  }
}

/** Appends to `copy` what `path` got since it was copied; answers the whole length. */
function copyRest(path: string, copy: string): number {
  const from = openSync(path, "r");
  const to = openSync(copy, "a");
  try {
    const chunk = Buffer.allocUnsafe(65_536);
    let at = statSync(copy).size;
    for (let count = readSync(from, chunk, 0, chunk.length, at); count > 0; ) {
      writeSync(to, chunk, 0, count);
      at += count;
      count = readSync(from, chunk, 0, chunk.length, at);
    }
    return at;
  } finally {
    closeSync(from);
    closeSync(to);
  }
}

function isNoSpace(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Removes the oldest rotated file; answers how long it was, 0: there is none. */
function dropOldest(path: string): number {
  for (let n = MOST_LOG_FILES; n >= 1; n--) {
    const size = statSync(`${path}.${n}`, { throwIfNoEntry: false })?.size;
    if (size === undefined) continue;
    remove(`${path}.${n}`);
    if (size > 0) return size;
  }
  return 0;
}

/** The end of the file from the first whole line on. */
function lastLines(path: string, size: number): Buffer {
  const fd = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(Math.min(TAIL_BYTES, size));
    const count = readSync(fd, chunk, 0, chunk.length, size - chunk.length);
    const read = chunk.subarray(0, count);
    return count === size ? read : read.subarray(read.indexOf(10) + 1);
  } finally {
    closeSync(fd);
  }
}

function shift(from: string, to: string): void {
  if (!exists(from)) return;
  renameSync(from, to);
  if (exists(`${from}.times`)) renameSync(`${from}.times`, `${to}.times`);
  else rmSync(`${to}.times`, { force: true });
}

function remove(path: string): void {
  rmSync(path, { force: true });
  rmSync(`${path}.times`, { force: true });
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Numbers never repeat, so logs of gone instances pile up: the newest of each service stay. */
function prune(directory: string, living: ReadonlySet<string>): void {
  const gone = new Map<string, { readonly instance: string; readonly at: number }[]>();
  for (const instance of instancesIn(directory)) {
    if (living.has(instance)) continue;
    const service = instance.replace(/-\d+$/, "");
    const at = statSync(join(directory, `${instance}.log`), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    gone.set(service, [...(gone.get(service) ?? []), { instance, at }]);
  }
  for (const logs of gone.values()) {
    for (const { instance } of logs.toSorted((left, right) => right.at - left.at).slice(KEPT_GONE)) {
      const path = join(directory, `${instance}.log`);
      remove(path);
      for (let n = 1; exists(`${path}.${n}`); n++) remove(`${path}.${n}`);
    }
  }
}
