// Rotation by copy and truncate (instances hold their log open for appending), notes of growth, and pruning.
// Invariant: no byte is lost by a crash of owld at any point (one copied twice may be shown twice); the last bytes
// are copied and the file truncated in one tick, so an instance can slip a line in between for microseconds only.

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
import { asError, OwlError } from "../../config/errors.ts";
import type { WallMs } from "../../config/time.ts";
import { KEPT_FILES } from "./log-text.ts";

/** Logs of instances that are gone, kept per service. */
const KEPT_GONE = 10;
const COPYING = ".copying";

interface LogRotation {
  run(): Promise<void>;
  /** Bytes of that instance's log rotated away since owld started. */
  rotatedBytes(instance: string): number;
}

interface LogRotationParts {
  readonly directory: string;
  readonly limitBytes: number;
  readonly now: () => WallMs;
  /** Instances whose logs must stay: everything alive, proxies too. */
  readonly living: () => ReadonlySet<string>;
}

export function createLogRotation(parts: LogRotationParts): LogRotation {
  const rotated = new Map<string, number>();
  const noted = new Map<string, number>();
  let running: Promise<void> | null = null;

  const rotate = async (path: string, instance: string): Promise<void> => {
    const copy = `${path}${COPYING}`;
    await copyFile(path, copy);
    // From here to the end nothing else of owld runs.
    const { atime, mtime } = statSync(path);
    for (let n = KEPT_FILES - 1; n >= 1; n--) shift(`${path}.${n}`, `${path}.${n + 1}`);
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
        if (size > parts.limitBytes) await rotate(path, instance);
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
    appendFileSync(`${path}.times`, `${size} ${parts.now()}\n`, { mode: 0o640 });
  };

  return {
    run() {
      // Never two at once: the second would copy what the first is just truncating.
      running ??= runOnce().finally(() => {
        running = null;
      });
      return running;
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

function shift(from: string, to: string): void {
  if (!exists(from)) return;
  renameSync(from, to);
  if (exists(`${from}.times`)) renameSync(`${from}.times`, `${to}.times`);
  else rmSync(`${to}.times`, { force: true });
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
      for (const suffix of ["", ...Array.from({ length: KEPT_FILES }, (_, n) => `.${n + 1}`)]) {
        rmSync(`${path}${suffix}`, { force: true });
        rmSync(`${path}${suffix}.times`, { force: true });
      }
    }
  }
}
