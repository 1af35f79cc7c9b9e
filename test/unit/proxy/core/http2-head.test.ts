import { expect, test } from "vitest";
import { Budget } from "../../../../supervisor/proxy/core/budget.ts";
import { keptLines } from "../../../../supervisor/proxy/core/head-view.ts";
import { headOfList, listOfHead, trailersOfList } from "../../../../supervisor/proxy/core/http2-head.ts";

const head = (more: readonly string[] = [], ends = true) =>
  headOfList([":method", "GET", ":scheme", "https", ":authority", "x", ":path", "/a", ...more], ends);
const lines = (more?: readonly string[], ends?: boolean) => {
  const read = head(more, ends);
  return read === null ? null : keptLines(read.view, []);
};

test("a header list is read as a head of HTTP/1.1: one Host, one Cookie, a coding where no length is known", () => {
  expect(head()).toMatchObject({ method: "GET", target: "/a" });
  expect(lines(["cookie", "a=1", "x-a", "1", "cookie", "b=2"])).toBe("x-a: 1\r\nhost: x\r\ncookie: a=1; b=2\r\n");
  expect(lines(["host", "X"])).toBe("host: x\r\n");
  expect(lines([], false)).toBe("host: x\r\ntransfer-encoding: chunked\r\n");
  expect(lines(["content-length", "3"], false)).toBe("content-length: 3\r\nhost: x\r\n");
});

test("what a line of HTTP/1.1 could be broken with, or what belongs to a connection, makes it malformed", () => {
  for (const [name, value] of [
    ["x-a", "1\r\nb: 2"],
    ["x-a", "1\0"],
    ["x-a\r\nb", "1"],
    ["X-A", "1"],
    ["x a", "1"],
    ["", "1"],
    ["host", "y"],
    ["connection", "close"],
    ["transfer-encoding", "chunked"],
    ["upgrade", "websocket"],
    [":path", "/b"],
  ] as const)
    expect(head([name, value]), name).toBeNull();
  for (const path of ["/ HTTP/1.1", "/\r\n", "", "/é"])
    expect(headOfList([":method", "GET", ":authority", "x", ":path", path], true), path).toBeNull();
  expect(headOfList([":method", "GET x", ":authority", "x", ":path", "/"], true)).toBeNull();
  expect(headOfList([":method", "GET", ":path", "/"], true)).toBeNull();
  expect(trailersOfList(["x-a", "1\n"])).toBeNull();
});

test("an answer's head becomes a list without what was dropped, repeated headers kept", () => {
  const view = trailersOfList(["set-cookie", "a", "connection", "close", "set-cookie", "b"]);
  expect(view === null ? null : listOfHead(view, [1])).toEqual(["set-cookie", "a", "set-cookie", "b"]);
});

test("a budget gives so many at once, and then so many a second", () => {
  const budget = new Budget(2, 10, 1_000);
  expect([budget.spend(1_000), budget.spend(1_000), budget.spend(1_000)]).toEqual([true, true, false]);
  expect([budget.spend(1_100), budget.spend(1_100)]).toEqual([true, false]);
  expect([budget.spend(60_000), budget.spend(60_000), budget.spend(60_000)]).toEqual([true, true, false]);
});
