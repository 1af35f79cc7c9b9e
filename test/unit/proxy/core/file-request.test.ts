// Which file a request names, under which conditions, and which part of it.

import { expect, test } from "vitest";
import { cacheLine, fileBelow, typeOf, wantedOf } from "../../../../supervisor/proxy/core/file-request.ts";

test.each([
  ["/", "/a/b.css", "a/b.css"],
  ["/", "/", ""],
  ["/assets", "/assets", ""],
  ["/assets", "/assets/", ""],
  ["/assets", "/assets/a%20b.js", "a b.js"],
  ["/assets/", "/assets/a.js", "a.js"],
  ["/", "//a///b/", "a/b/"],
  ["/", "/.well-known/security.txt", ".well-known/security.txt"],
  ["/", "/../etc/passwd", null],
  ["/", "/a/..%2f..%2fetc/passwd", null],
  ["/", "/%2e%2e/etc/passwd", null],
  ["/", "/..%5cx", null],
  ["/", "/a%00.html", null],
  ["/", "/.git/config", null],
  ["/", "/a/.env", null],
  ["/", "/a/.well-known/x", null],
  ["/", "/%zz", null],
  ["/", `/${"x".repeat(5_000)}`, null],
])("below %s, %s names %j", (route, path, file) => {
  expect(fileBelow(route, path)).toBe(file);
});

const file = { etag: '"a-1"', modifiedMs: Date.parse("2026-11-30T12:00:00.500Z"), bytes: 100 };
const DAY = "Mon, 30 Nov 2026 12:00:00 GMT";
const BEFORE = "Mon, 30 Nov 2026 11:59:59 GMT";
const none = { ifNoneMatch: undefined, ifModifiedSince: undefined, range: undefined, ifRange: undefined };

test.each([
  [{}, { kind: "whole" }],
  [{ ifNoneMatch: '"x", W/"a-1"' }, { kind: "notModified" }],
  [{ ifNoneMatch: "*" }, { kind: "notModified" }],
  [{ ifNoneMatch: '"x"', ifModifiedSince: DAY }, { kind: "whole" }],
  [{ ifModifiedSince: DAY }, { kind: "notModified" }],
  [{ ifModifiedSince: BEFORE }, { kind: "whole" }],
  [{ ifModifiedSince: "soon" }, { kind: "whole" }],
  [{ range: "bytes=0-9" }, { kind: "part", start: 0, end: 9 }],
  [{ range: "bytes=90-" }, { kind: "part", start: 90, end: 99 }],
  [{ range: "bytes=-10" }, { kind: "part", start: 90, end: 99 }],
  [{ range: "bytes=-1000" }, { kind: "part", start: 0, end: 99 }],
  [{ range: "bytes=50-1000" }, { kind: "part", start: 50, end: 99 }],
  [{ range: "bytes=100-" }, { kind: "outOfRange" }],
  [{ range: "bytes=-0" }, { kind: "outOfRange" }],
  [{ range: "bytes=9-1" }, { kind: "whole" }],
  [{ range: "bytes=0-1,5-6" }, { kind: "whole" }],
  [{ range: "lines=0-1" }, { kind: "whole" }],
  [
    { range: "bytes=0-1", ifRange: '"a-1"' },
    { kind: "part", start: 0, end: 1 },
  ],
  [{ range: "bytes=0-1", ifRange: '"b"' }, { kind: "whole" }],
  [{ range: "bytes=0-1", ifRange: 'W/"a-1"' }, { kind: "whole" }],
  [
    { range: "bytes=0-1", ifRange: DAY },
    { kind: "part", start: 0, end: 1 },
  ],
  [{ range: "bytes=0-1", ifRange: BEFORE }, { kind: "whole" }],
])("%j is answered with %j", (asked, wanted) => {
  expect(wantedOf(file, { ...none, ...asked })).toEqual(wanted);
});

test("types and how long a file is kept", () => {
  expect([typeOf("a/b.CSS"), typeOf("x.unknown"), typeOf("noending")]).toEqual([
    "text/css; charset=utf-8",
    "application/octet-stream",
    "application/octet-stream",
  ]);
  expect([cacheLine("a.js", 60), cacheLine("a.html", 60), cacheLine("a.js", null)]).toEqual([
    "public, max-age=60",
    "no-cache",
    "no-cache",
  ]);
});
