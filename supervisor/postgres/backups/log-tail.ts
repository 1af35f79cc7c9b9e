// The log of a backup directory, laid into the data directory of a server that replays it, as it comes. Such a server
// looks into pg_wal by itself every few seconds; what it finds of a segment half written is to it the end for now.
// Invariant: bytes are laid at their own place only, whole segments or their beginning, and are on the disk when told.

import { chown, open, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { Refusal } from "../../core/text/refusal.ts";
import type { BackupManifest } from "./core/manifest.ts";
import { chainFrom, isLaterLine, isSameLine, type Lsn, parseLsn, segmentName, segmentStart } from "./core/wal.ts";
import type { BackupPlace } from "./directory.ts";
import { contents } from "./log-keeper.ts";

const SEGMENT = /^[0-9A-F]{24}$/;

interface LogTail {
  /** Lays down what has come; answers whether something had. Throws `backup.logEnds`. */
  bring(): Promise<boolean>;
}

export async function openLogTail(
  place: BackupPlace,
  line: BackupManifest["postgres"],
  data: string,
): Promise<LogTail> {
  const segmentBytes = BigInt(line.segmentBytes);
  const directory = join(data, "pg_wal");
  const { uid, gid } = await stat(data);
  // The last segment may be laid half: it is laid again from its beginning.
  const names = (await readdir(directory)).filter((name) => SEGMENT.test(name)).sort();
  const last = names.at(-1);
  let at: Lsn = last === undefined ? segmentStart(parseLsn(line.start), segmentBytes) : startOf(last, segmentBytes);

  async function lay(bytes: Buffer): Promise<void> {
    const start = segmentStart(at, segmentBytes);
    const name = segmentName(line.timeline, at, segmentBytes);
    const path = join(directory, name);
    const isThere = (await stat(path).catch(() => null)) !== null;
    // Short files are no segments to the server: a new one gets its name when it has its length.
    const file = await open(isThere ? path : join(directory, `new-${name}`), isThere ? "r+" : "w", 0o600);
    try {
      if (!isThere) await file.truncate(Number(segmentBytes));
      await file.write(bytes, 0, bytes.length, Number(at - start));
      await file.datasync();
    } finally {
      await file.close();
    }
    if (!isThere) {
      if (process.geteuid?.() === 0) await chown(join(directory, `new-${name}`), uid, gid);
      await rename(join(directory, `new-${name}`), path);
    }
    at += BigInt(bytes.length);
  }

  return {
    async bring() {
      const pieces = await place.pieces();
      const chain = chainFrom(pieces, line, at);
      if (chain.length === 0) {
        const goesOn = pieces.some((one) => isSameLine(one, line) && one.from > at);
        const newest = pieces.some((one) => isLaterLine(one, line)) ? (await place.backups()).at(-1) : undefined;
        if (goesOn || (newest !== undefined && isLaterLine(newest.postgres, line)))
          throw new Refusal("backup.logEnds", ({ refused }) => refused.backup.logEnds(place.path));
        return false;
      }
      let held: Buffer[] = [];
      let heldBytes = 0;
      const keep = async (): Promise<void> => {
        const bytes = Buffer.concat(held);
        [held, heldBytes] = [[], 0];
        if (bytes.length > 0) await lay(bytes);
      };
      for await (const bytes of contents(place, chain, at))
        for (let taken = 0; taken < bytes.length; ) {
          const room = Number(segmentStart(at, segmentBytes) + segmentBytes - at) - heldBytes;
          const part = bytes.subarray(taken, taken + room);
          held.push(part);
          heldBytes += part.length;
          taken += part.length;
          if (part.length === room) await keep();
        }
      await keep();
      return true;
    },
  };
}

function startOf(name: string, segmentBytes: bigint): Lsn {
  const [high, low] = [name.slice(8, 16), name.slice(16)].map((part) => BigInt(`0x${part}`));
  return ((high ?? 0n) * (0x1_0000_0000n / segmentBytes) + (low ?? 0n)) * segmentBytes;
}
