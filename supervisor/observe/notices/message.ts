// A notice as people read it: one message for all there is to tell. Pure but for the hash of its name.

import { createHash } from "node:crypto";
import { isoTime, type WallMs } from "../../../config/time.ts";
import type { Notice } from "../../core/notices.ts";
import type { Text } from "../../core/text/text.ts";
import type { Message } from "./channels.ts";

const SUBJECT_LENGTH = 120;

const minute = (at: WallMs): string => isoTime(at).replace(/:\d\d\.\d{3}Z$/, "Z");

export function messageOf({ begun, over }: Notice, host: string, { notices: t }: Text): Message {
  const ended = [...over, ...begun.filter(({ overMs }) => overMs !== null)];
  const open = begun.filter(({ overMs }) => overMs === null);
  const [first = ""] = [...open.map(({ text }) => text), ...ended.map(({ text }) => t.isOver(text))];
  const lines = [
    ...open.map(({ fromMs, text }) => t.begun(minute(fromMs), text)),
    ...ended.map(({ fromMs, overMs, text }) => t.over(minute(fromMs), minute(overMs ?? fromMs), text)),
  ];
  const matters = [...open, ...ended].map(({ key, kind, urgent, text, fromMs, overMs }) => ({
    key,
    kind,
    urgent,
    text,
    state: overMs === null ? "open" : "over",
    since: isoTime(fromMs),
    until: overMs === null ? null : isoTime(overMs),
  }));
  return framed(first, lines, { matters, host }, t);
}

/** What `owlctl notify test` sends. `nowMs` tells one from another. */
export function testMessage(host: string, nowMs: WallMs, { notices: t }: Text): Message {
  return framed(t.test, [t.test], { matters: [], host, test: true, at: isoTime(nowMs) }, t);
}

function framed(
  first: string,
  lines: readonly string[],
  data: { readonly host: string } & Message["data"],
  t: Text["notices"],
): Message {
  const { host } = data;
  const id = createHash("sha256").update(JSON.stringify(data)).digest("hex").slice(0, 32);
  const short = first.length > SUBJECT_LENGTH ? `${first.slice(0, SUBJECT_LENGTH)}…` : first;
  const subject = t.subject(host, short.replaceAll(/\s+/g, " "), lines.length - 1);
  return { id, subject, text: [...lines, "", t.look(host), ""].join("\n"), data };
}
