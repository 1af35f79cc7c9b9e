// What a standby lays down of the log, and what keeps the Owl before it from running on.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../../../config/system-time.ts";
import {
  claimPlace,
  markStandby,
  type OwnPlace,
  openPlace,
} from "../../../../../supervisor/postgres/backups/directory.ts";
import { refuseReplaced } from "../../../../../supervisor/postgres/backups/fence.ts";
import { openLogTail } from "../../../../../supervisor/postgres/backups/log-tail.ts";

let root: string;
let path: string;
let place: OwnPlace;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "owl-standby-"));
  path = join(root, "backups");
  mkdirSync(path);
  mkdirSync(join(root, "data/pg_wal"), { recursive: true });
  place = await claimPlace({ path, installation: "one", holder: "a", held: false, passphrase: null, nowMs: 0 });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const LINE = {
  major: 18,
  systemId: "1",
  epoch: 0,
  timeline: 1,
  segmentBytes: 2 ** 20,
  start: "0/100000",
  end: "0/100010",
  bytes: 0,
};
const SEGMENT = 2 ** 20;
const log = (from: number, text: string, epoch = 0) =>
  place.putPiece({ epoch, timeline: 1, from: BigInt(from), to: BigInt(from + text.length) }, [Buffer.from(text)]);
const laid = (name: string) => readFileSync(join(root, "data/pg_wal", name));
const tail = () => openLogTail(place, LINE, join(root, "data"));

test("what has come is laid at its place, over a segment's end and by one that begins again", async () => {
  await log(SEGMENT, "abc");
  const first = await tail();
  expect([await first.bring(), await first.bring()]).toEqual([true, false]);
  await log(SEGMENT + 3, "d".repeat(SEGMENT - 3));
  await log(2 * SEGMENT, "ef");
  expect(await first.bring()).toBe(true);
  await log(2 * SEGMENT + 2, "g");
  expect(await (await tail()).bring()).toBe(true);
  expect(readdirSync(join(root, "data/pg_wal"))).toEqual(["000000010000000000000001", "000000010000000000000002"]);
  expect(laid("000000010000000000000001").subarray(0, 5).toString()).toBe("abcdd");
  expect([laid("000000010000000000000001").length, laid("000000010000000000000002").length]).toEqual([
    SEGMENT,
    SEGMENT,
  ]);
  expect(laid("000000010000000000000002").subarray(0, 4).toString()).toBe("efg\0");
});

test("a gap in the log ends the following", async () => {
  await log(SEGMENT, "abc");
  const following = await tail();
  await following.bring();
  await log(SEGMENT + 4, "e");
  await expect(following.bring()).rejects.toEqual(expect.objectContaining({ code: "backup.logEnds" }));
});

const home = (known: object) => {
  const facts = new Map<string, unknown>([
    ["backup directory", { directory: path, holder: "a", held: true, ...known }],
    ["installation", "one"],
  ]);
  return { store: { all: () => facts }, clock: systemClock } as unknown as Parameters<typeof refuseReplaced>[0];
};
const backup = () => ({ directory: path }) as Parameters<typeof refuseReplaced>[1];
const refused = (code: string) => expect.objectContaining({ code: `backup.${code}` });

test("a home is refused from the promotion of a standby on, the promoted one is not", async () => {
  await refuseReplaced(home({}), backup());
  await markStandby(path, (await openPlace(path, null)).mark, "promoted");
  await expect(refuseReplaced(home({}), backup())).rejects.toEqual(refused("replaced"));
  await refuseReplaced(home({ generation: 1 }), backup());
  await refuseReplaced(home({}), null);
});

test("a directory that tells nothing keeps a home from running only while a standby follows it", async () => {
  rmSync(path, { recursive: true });
  await refuseReplaced(home({}), backup());
  await expect(refuseReplaced(home({ standby: true }), backup())).rejects.toEqual(refused("unsure"));
});
