// `notify` of owl.yaml: whom, when not, of what.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Config } from "../../../config/config.ts";
import { loadConfig } from "../../../config/load.ts";
import { NOTICE_KINDS } from "../../../config/notice-kinds.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "owl-notify-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function load(yaml: string, env: Record<string, string> = {}): Config {
  writeFileSync(join(folder, "owl.yaml"), yaml);
  return loadConfig({ env: { OWL_HOME: join(folder, "home"), ...env }, cwd: folder, userProblem: () => null });
}

const SMTP = "mail: {smtp: 'smtp://h'}\n";

test("without it nobody is told", () => {
  expect(load("").notify).toBeNull();
});

test("mail goes through mail.smtp, the webhook's URL is a secret, all is told of", () => {
  const { notify } = load(`${SMTP}notify: {mail: {to: [a@b.c, d@e.f]}, webhook: {url: "\${HOOK}"}}`, {
    HOOK: "https://h/x",
  });
  expect(notify).toEqual({
    mail: { to: ["a@b.c", "d@e.f"], smtp: "smtp://h", from: "owl@localhost" },
    webhook: { url: "https://h/x" },
    quiet: null,
    events: NOTICE_KINDS,
  });
});

test("quiet hours have a zone, the machine's own when none is named", () => {
  const quiet = (text: string) => load(`notify: {webhook: {url: "http://h"}, quiet: "${text}"}`).notify?.quiet;
  expect(quiet("22:00-07:30 Asia/Seoul")).toEqual({ fromMinute: 1_320, untilMinute: 450, zone: "Asia/Seoul" });
  expect(quiet("01:00-02:00")?.zone).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
});

test.for([
  ["notify: {mail: {to: a@b.c}}", "notify.mail needs a mail server"],
  ["notify: {}", "notify names nobody to tell"],
  [`${SMTP}notify: {mail: {to: "a@b.c\\nBcc: x@y.z"}}`, "expected a mail address"],
  ['notify: {webhook: {url: "ftp://h"}}', "expected a URL beginning with http:// or https://"],
  ['notify: {webhook: {url: "http://h"}, quiet: "22:00"}', "expected hours of the day"],
  ['notify: {webhook: {url: "http://h"}, quiet: "24:00-07:00"}', "expected hours of the day"],
  ['notify: {webhook: {url: "http://h"}, quiet: "07:00-07:00"}', "expected hours of the day"],
  ['notify: {webhook: {url: "http://h"}, quiet: "22:00-07:00 Mars/Olympus"}', "expected hours of the day"],
  ['notify: {webhook: {url: "http://h"}, events: [disks]}', "events"],
] as const)("%s is refused", ([yaml, message]) => {
  expect(() => load(yaml)).toThrow(message);
});

test("mail of a team's own services is there for notifications", () => {
  const yaml = `${SMTP}services: {web: {command: [a]}}\nnotify: {mail: {to: a@b.c}}`;
  expect(load(yaml).warnings).toEqual([]);
});
