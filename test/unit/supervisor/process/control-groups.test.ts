// Control groups in a directory that looks like the kernel's: who is put where, and what is said where that cannot be.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { delegatedGroup } from "../../../../supervisor/core/control-groups.ts";
import { createControlGroups, findGroups } from "../../../../supervisor/process/control-groups.ts";

let mount: string;
let root: string;
beforeEach(() => {
  mount = mkdtempSync(join(tmpdir(), "owl-groups-"));
  root = join(mount, "system.slice/owl.service");
  mkdirSync(join(root, "owld"), { recursive: true });
  writeFileSync(join(root, "cgroup.controllers"), "cpuset cpu io memory pids\n");
  writeFileSync(join(root, "cgroup.subtree_control"), "");
  writeFileSync(join(mount, "self"), "0::/system.slice/owl.service/owld\n");
});
afterEach(() => rmSync(mount, { recursive: true, force: true }));

const places = () => ({ mount, self: join(mount, "self") });
const read = (...names: string[]) => readFileSync(join(root, ...names), "utf8");

test.each([
  ["12:memory:/x\n1:name=systemd:/y\n", "noVersion2"],
  ["0::/\n", "notDelegated"],
  ["0::/system.slice/owl.service\n", "notDelegated"],
  ["0::/owld\n", "notDelegated"],
  ["0::/system.slice/owl.service/owld\n", { path: "/system.slice/owl.service" }],
])("%j is %j", (self, expected) => {
  expect(delegatedGroup(self)).toEqual(expected);
});

test("a delegated group without the controllers, or none at all, is said", () => {
  expect(findGroups(places())).toEqual({ root });
  writeFileSync(join(root, "cgroup.controllers"), "cpu pids\n");
  expect(findGroups(places())).toBe("notDelegated");
  rmSync(root, { recursive: true });
  expect(findGroups(places())).toBe("noVersion2");
});

test("a process is in a group of its own with its limits, and again under a new number or new limits", () => {
  const groups = createControlGroups(places());
  groups.sync([{ id: "web-1", pid: 41, limits: { cpuWeight: 300, memoryMaxBytes: 2 ** 30 } }]);
  expect(read("cgroup.subtree_control")).toBe("+cpu +memory");
  const files = ["cpu.weight", "memory.max", "memory.oom.group", "cgroup.procs"];
  const found = () => files.map((file) => read("web-1", file));
  expect(found()).toEqual(["300", "1073741824", "1", "41"]);
  groups.sync([{ id: "web-1", pid: 42, limits: { cpuWeight: 50 } }]);
  expect(found()).toEqual(["50", "max", "0", "42"]);
  expect(groups.trouble()).toBeNull();
});

test("groups of an earlier owld go once they are empty, and its own never", () => {
  mkdirSync(join(root, "web-0"));
  const groups = createControlGroups(places());
  groups.sync([{ id: "web-1", pid: 41, limits: {} }]);
  expect([existsSync(join(root, "web-0")), existsSync(join(root, "owld"))]).toEqual([false, true]);
});

test("nobody has limits: nothing is touched; somebody has and nothing is delegated: that is told as long as it holds", () => {
  writeFileSync(join(mount, "self"), "0::/system.slice/owl.service\n");
  const groups = createControlGroups(places());
  groups.sync([]);
  expect(groups.trouble()).toBeNull();
  groups.sync([{ id: "web-1", pid: 41, limits: { cpuWeight: 300 } }]);
  expect(groups.trouble()).toBe("notDelegated");
  groups.sync([]);
  expect([groups.trouble(), read("cgroup.subtree_control")]).toEqual([null, ""]);
});
