// When a matter is told, through which channel, and when no more.

import { expect, test } from "vitest";
import type { Matter } from "../../../../supervisor/core/matters.ts";
import {
  beginNotices,
  type Channel,
  dueNotice,
  isQuiet,
  type NoticeRecord,
  noteMatters,
  noteTold,
  restMs,
  withKinds,
} from "../../../../supervisor/core/notices.ts";

const MINUTE = 60_000;
const BACKUP: Matter = { key: "backup base", kind: "backup", mark: "", urgent: false, text: "The disk is full." };
const LOOP: Matter = { key: "crash-loop web", kind: "crash-loop", mark: "", urgent: true, text: "web crashes." };
const BOTH = ["mail", "webhook"] as const;

/** What is said over a course of looks, a minute apart, as `channel: +begun -over`. */
function course(looks: readonly (readonly Matter[])[], how: Partial<Course> = {}): readonly string[] {
  const { channels = ["mail"], quiet = () => false, fails = () => false, everyMs = MINUTE } = how;
  let record: NoticeRecord = beginNotices(0);
  return looks.map((found, index) => {
    const nowMs = index * everyMs;
    // As after a restart of owld: only what is on record is known.
    record = JSON.parse(JSON.stringify(noteMatters(record, found, channels, nowMs)));
    const said = channels.flatMap((channel) => {
      const notice = dueNotice(record, channel, { nowMs, quiet: quiet(index) });
      if (notice === null || fails(channel, index)) return [];
      record = noteTold(record, channel, notice, nowMs);
      const words = [
        ...notice.begun.map(({ key, overMs }) => `+${key}${overMs === null ? "" : " over"}`),
        ...notice.over.map(({ key }) => `-${key}`),
      ];
      return [channels.length > 1 ? `${channel}: ${words.join(" ")}` : words.join(" ")];
    });
    return said.join("; ");
  });
}

interface Course {
  readonly channels: readonly Channel[];
  readonly quiet: (look: number) => boolean;
  readonly fails: (channel: Channel, look: number) => boolean;
  readonly everyMs: number;
}

const times = (count: number, found: readonly Matter[]) => Array.from({ length: count }, () => found);

test("a matter is told once, and once that it is over", () => {
  const said = course([...times(4, [BACKUP]), ...times(10, [])]);
  expect(said.filter(Boolean)).toEqual(["+backup base", "-backup base"]);
  expect(said.indexOf("-backup base")).toBe(9);
});

test("one that comes and goes is told once", () => {
  const looks = Array.from({ length: 20 }, (_, index) => (index % 4 === 0 ? [LOOP] : []));
  expect(course(looks).filter(Boolean)).toEqual(["+crash-loop web"]);
});

test("another rollout that failed is another matter, and the first is not said to be over", () => {
  const failed = (mark: string): Matter => ({ key: "rollout", kind: "rollout", mark, urgent: false, text: mark });
  expect(course([[failed("r-1")], [failed("r-1")], [failed("r-2")]])).toEqual(["+rollout", "", "+rollout"]);
});

test("quiet hours hold back all but what takes pages down", () => {
  const said = course([...times(3, [BACKUP, LOOP]), [BACKUP]], { quiet: (look) => look < 3 });
  expect(said).toEqual(["+crash-loop web", "", "", "+backup base"]);
});

test("what came and went in quiet hours is told after them", () => {
  const said = course([[BACKUP], ...times(8, [])], { quiet: (look) => look < 8 });
  expect(said.filter(Boolean)).toEqual(["+backup base over"]);
});

test("a matter that becomes urgent in quiet hours is told at once", () => {
  const calm = { ...LOOP, urgent: false };
  expect(course([[calm], [LOOP]], { quiet: () => true })).toEqual(["", "+crash-loop web"]);
});

test("a channel that fails is told later, and holds back no other", () => {
  const fails = (channel: Channel, look: number): boolean => channel === "webhook" && look < 2;
  expect(course(times(4, [BACKUP]), { channels: BOTH, fails })).toEqual([
    "mail: +backup base",
    "",
    "webhook: +backup base",
    "",
  ]);
});

test("a certificate that is there after a moment was nobody's matter", () => {
  const standIn: Matter = { key: "certificate", kind: "certificate", mark: "WARN", urgent: false, text: "Stand-in." };
  expect(course([[standIn], ...times(10, [])]).filter(Boolean)).toEqual([]);
  expect(course(times(12, [standIn])).filter(Boolean)).toEqual(["+certificate"]);
});

test("twenty messages an hour at most, a minute apart, and what waited comes in one", () => {
  const looks = Array.from({ length: 240 }, (_, index) =>
    Array.from({ length: index + 1 }, (_, n): Matter => ({ ...BACKUP, key: `backup ${n}` })),
  );
  const said = course(looks, { everyMs: MINUTE / 4 });
  expect(said.slice(0, 5)).toEqual(["+backup 0", "", "", "", "+backup 1 +backup 2 +backup 3 +backup 4"]);
  expect(said.filter(Boolean)).toHaveLength(20);
});

test("a hundred matters are known at most, and a look that finds nothing new writes nothing", () => {
  const many = Array.from({ length: 500 }, (_, n): Matter => ({ ...BACKUP, key: `backup ${n}` }));
  const record = noteMatters(beginNotices(0), many, ["mail"], 0);
  expect(Object.keys(record.matters)).toHaveLength(100);
  expect(noteMatters(record, many, ["mail"], MINUTE)).toBe(record);
});

test("a kind that is no longer told of is forgotten, not said to be over", () => {
  const record = noteMatters(beginNotices(0), [BACKUP, LOOP], ["mail"], 0);
  expect(Object.keys(withKinds(record, ["backup"]).matters)).toEqual(["backup base"]);
  expect(withKinds(record, ["backup", "crash-loop"])).toBe(record);
});

test("a channel rests longer with each failure, an hour at most", () => {
  expect([1, 2, 3, 40].map(restMs)).toEqual([30_000, 60_000, 120_000, 3_600_000]);
});

test.for([
  ["2026-11-30T12:59:00Z", false],
  ["2026-11-30T13:00:00Z", true],
  ["2026-11-30T21:59:00Z", true],
  ["2026-11-30T22:00:00Z", false],
] as const)("quiet from 22:00 to 07:00 in Seoul at %s: %s", ([at, quiet]) => {
  const hours = { fromMinute: 22 * 60, untilMinute: 7 * 60, zone: "Asia/Seoul" };
  expect(isQuiet(hours, Date.parse(at))).toBe(quiet);
});

test("quiet hours within one day", () => {
  const hours = { fromMinute: 60, untilMinute: 120, zone: "UTC" };
  expect(["00:59", "01:00", "02:00"].map((at) => isQuiet(hours, Date.parse(`2026-11-30T${at}:00Z`)))).toEqual([
    false,
    true,
    false,
  ]);
});
