// The state file: what it keeps, what it does when it is damaged or cannot be written.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { takeOwnerLock } from "../../../../supervisor/state/owner-lock.ts";
import { openStore } from "../../../../supervisor/state/store.ts";

let directory = "";
let file = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "owl-store-"));
  file = join(directory, "owl.sqlite");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("numbers, documents and events are there for the next owld", () => {
  const first = openStore(file, "t").store;
  expect([first.next("web"), first.next("web"), first.next("worker")]).toEqual([1, 2, 1]);
  first.put("instance", "web-1", { id: "web-1" });
  first.put("instance", "web-2", { id: "web-2" });
  first.remove("instance", "web-1");
  first.append("event", 1, { id: 1 });
  first.append("rollout_event", 1, { event: "ready" }, "r-1");
  first.close();
  const { store, setAside } = openStore(file, "t");
  expect(setAside).toBeNull();
  expect([...store.all("instance").keys()]).toEqual(["web-2"]);
  expect(store.next("web")).toBe(3);
  expect(store.lastId("event")).toBe(1);
  expect(store.read("rollout_event", { rollout: "r-1" })).toEqual([{ event: "ready" }]);
  store.raise("web", 10);
  expect(store.next("web")).toBe(11);
  store.close();
});

test("what is written together is kept whole or not at all", () => {
  const first = openStore(file, "t").store;
  expect(() =>
    first.atomically(() => {
      first.put("fact", "kept", 1);
      first.put("fact", "with", 2);
    }),
  ).not.toThrow();
  first.close();
  const { store } = openStore(file, "t");
  expect([...store.all("fact").keys()]).toEqual(["kept", "with"]);
  store.close();
});

test("a damaged file is set aside and a new one begun", () => {
  writeFileSync(file, "this is no database, whatever its name says ".repeat(100));
  const { store, setAside } = openStore(file, "2026-08-01");
  expect(setAside?.path).toMatch(/owl\.sqlite\.damaged-2026-08-01$/);
  expect(store.next("web")).toBe(1);
  store.close();
  expect(readdirSync(directory)).toContain("owl.sqlite.damaged-2026-08-01");
});

test("a file of a newer version is set aside with that reason", () => {
  openStore(file, "t").store.close();
  const database = new DatabaseSync(file);
  database.exec("PRAGMA user_version = 99");
  database.close();
  const { store, setAside } = openStore(file, "n");
  expect(setAside?.reason).toMatch(/newer version/);
  store.close();
});

test("a whole file that somebody holds is not taken for a damaged one: it stays, and owld says what to do", () => {
  const first = openStore(file, "t").store;
  first.put("fact", "kept", 1);
  first.close();
  const holder = new DatabaseSync(file);
  holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  expect(() => openStore(file, "t", 0)).toThrow(/cannot be used: database is locked/);
  holder.exec("ROLLBACK");
  holder.close();
  expect(readdirSync(directory)).toEqual(["owl.sqlite"]);
  const { store, setAside } = openStore(file, "t", 0);
  expect(setAside).toBeNull();
  expect(store.all("fact").get("kept")).toBe(1);
  store.close();
});

test("a file with documents that are none is set aside", () => {
  openStore(file, "t").store.close();
  const database = new DatabaseSync(file);
  database.exec("INSERT INTO fact VALUES ('cut', '{\"half\":')");
  database.close();
  const { store, setAside } = openStore(file, "d");
  expect(setAside?.reason).toMatch(/JSON/);
  expect(store.all("fact").size).toBe(0);
  store.close();
});

test("while nothing can be written it goes on from memory, and writes it all once it can", () => {
  const { store } = openStore(file, "t");
  const blocker = new DatabaseSync(file);
  blocker.exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE");
  store.put("instance", "web-1", { id: "web-1" });
  expect(store.failing()).toMatch(/locked/);
  store.atomically(() => {
    store.put("instance", "web-2", { id: "web-2" });
    expect(store.next("web")).toBe(1);
  });
  expect(store.all("instance").size).toBe(2);
  blocker.exec("ROLLBACK");
  blocker.close();
  expect(store.retry()).toBe(true);
  expect(store.failing()).toBeNull();
  store.close();
  const again = openStore(file, "t").store;
  expect([...again.all("instance").keys()]).toEqual(["web-1", "web-2"]);
  expect(again.next("web")).toBe(2);
  again.close();
});

test("a second owner is refused and told the first one's pid; a released lock is free", () => {
  const first = takeOwnerLock(directory, 4_711);
  expect(() => takeOwnerLock(directory, 4_712)).toThrow(/pid 4711/);
  first.release();
  takeOwnerLock(directory, 4_713).release();
});
