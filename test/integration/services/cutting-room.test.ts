// The segment files of a transcription's attempts (chaos, seed 2: a frozen worker woke up, tidied up, and took away the
// files of the attempt that had followed it; the recording was then told to be damaged).

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cuttingRoom } from "../../../services/jobs/transcription/recording.ts";

let uploadsDir: string;
beforeEach(async () => {
  uploadsDir = await mkdtemp(join(tmpdir(), "owl-cut-"));
});
afterEach(() => rm(uploadsDir, { recursive: true, force: true }));

async function furnished(id: string, attempt: number): Promise<string> {
  const room = await cuttingRoom({ uploadsDir }, { id, attempt });
  await mkdir(room, { recursive: true });
  await writeFile(join(room, "r-00000.wav"), "sound");
  return room;
}

test("what an earlier attempt removes at its late end is not its successor's", async () => {
  const first = await furnished("a", 1);
  const second = await furnished("a", 2);
  await rm(first, { recursive: true, force: true });
  expect(existsSync(join(second, "r-00000.wav"))).toBe(true);
});

test("an attempt removes what earlier ones left, and nothing of a later one or of another recording", async () => {
  const rooms = [await furnished("a", 1), await furnished("b", 1), await furnished("a", 3)];
  await furnished("a", 2);
  expect(rooms.map((room) => existsSync(room))).toEqual([false, true, true]);
});
