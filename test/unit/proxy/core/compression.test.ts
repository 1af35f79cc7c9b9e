import { expect, test } from "vitest";
import { acceptedIn, compressedHead } from "../../../../supervisor/proxy/core/compression.ts";
import { listOfHead, trailersOfList } from "../../../../supervisor/proxy/core/http2-head.ts";
import { scanResponse } from "../../../../supervisor/proxy/core/response-head.ts";

const JSON_OF = (more: readonly string[] = []) => [
  "content-type",
  "application/json",
  "content-length",
  "5000",
  ...more,
];

function through(list: readonly string[], { method = "GET", status = 200, accepted = "br", room = true } = {}) {
  const view = trailersOfList(list);
  if (view === null) throw new Error("no head");
  const scan = scanResponse(status, 1, view);
  const { coding, scan: after } = compressedHead({ method, status, view, scan }, () => accepted, room);
  return { coding, same: after === scan, head: [...listOfHead(view, after.dropped), ...after.added], scan: after };
}

test("the coding a client likes best is chosen, then the one we do", () => {
  for (const [accepted, chosen] of [
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, deflate, br", "br"],
    ["GZIP", "gzip"],
    ["x-gzip", "gzip"],
    ["br;q=0.5, gzip; q=0.8", "gzip"],
    ["*", "zstd"],
    ["*;q=0.1, br;q=0", "zstd"],
    ["zstd;q=0, *;q=0.5", "br"],
    ["identity, gzip;q=0.5", null],
    ["gzip;q=0", null],
    ["gzip;q=x", null],
    ["deflate", null],
    ["", null],
  ] as const)
    expect(through(JSON_OF(), { accepted }).coding, accepted).toBe(chosen);
});

test("a compressed answer says so, names no length, and is no longer equal byte for byte", () => {
  const { coding, head, scan } = through(
    JSON_OF(["etag", '"a"', "vary", "Origin", "accept-ranges", "bytes", "content-encoding", "identity", "x-a", "1"]),
  );
  expect(coding).toBe("br");
  expect(head).toEqual([
    "content-type",
    "application/json",
    "x-a",
    "1",
    "Vary",
    "Origin, Accept-Encoding",
    "Content-Encoding",
    "br",
    "ETag",
    'W/"a"',
  ]);
  expect(scan).toMatchObject({ length: null, chunked: false });
  expect(through(JSON_OF(["etag", 'W/"a"', "vary", "*"])).head).toEqual(
    expect.arrayContaining(["etag", 'W/"a"', "vary", "*", "Content-Encoding", "br"]),
  );
});

test("an answer that another client would get compressed says that it depends", () => {
  for (const how of [{ accepted: "" }, { room: false }]) {
    const { coding, head } = through(JSON_OF(["etag", '"a"']), how);
    expect(coding).toBeNull();
    expect(head).toEqual([...JSON_OF(["etag", '"a"']), "Vary", "Accept-Encoding"]);
  }
});

test("types that are packed already, streams, ranges, digests and what forbids it go on as they are", () => {
  const typed = (type: string) => ["content-type", type, "content-length", "5000"];
  for (const type of ["text/html; charset=utf-8", "TEXT/CSS", "image/svg+xml", "application/problem+json", "font/ttf"])
    expect(through(typed(type)).coding, type).toBe("br");
  for (const type of ["text/event-stream", "image/png", "application/zip", "application/x-ndjson", "application/jsonx"])
    expect(through(typed(type)).same, type).toBe(true);
  for (const more of [
    ["content-encoding", "gzip"],
    ["cache-control", "public, No-Transform"],
    ["content-range", "bytes 0-1/2"],
    ["x-accel-buffering", "no"],
    ["content-digest", "sha-256=:x:"],
  ])
    expect(through(JSON_OF(more)).same, more.join()).toBe(true);
  expect(through(["content-type", "text/plain", "content-length", "1023"]).same).toBe(true);
  expect(through(["content-type", "text/plain", "transfer-encoding", "chunked"]).coding).toBe("br");
  expect(through(["content-type", "text/plain", "transfer-encoding", "chunked", "trailer", "x"]).same).toBe(true);
  expect(through(JSON_OF(), { method: "HEAD" }).same).toBe(true);
  for (const status of [204, 205, 206, 304]) expect(through(JSON_OF(), { status }).same, String(status)).toBe(true);
});

test("what a request accepts is read from all its lines, and from nothing else", () => {
  const head =
    "GET /?accept-encoding:br HTTP/1.1\r\nAccept-Encoding: gzip\r\nX-Accept-Encoding: zstd\r\naccept-encoding:br\r\n\r\n";
  expect(acceptedIn(head)).toBe(" gzip,br");
  expect(acceptedIn("GET / HTTP/1.1\r\n\r\n")).toBe("");
});
