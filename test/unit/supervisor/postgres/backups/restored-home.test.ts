// Where a restored owl.yaml goes.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { homePaths } from "../../../../../config/home.ts";
import { restoreConfig } from "../../../../../supervisor/postgres/backups/restored-home.ts";

const config = { path: "/somewhere/owl.yaml", text: "web: {replicas: 1}\n" };
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "owl-config-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
const restored = (file: string) => restoreConfig(config, join(root, file), homePaths(root));

test("it goes where it is looked for, and a restore begun again finds it in its place", async () => {
  const inPlace = { file: join(root, "etc/owl.yaml"), inPlace: true };
  expect(await restored("etc/owl.yaml")).toEqual(inPlace);
  expect(await restored("etc/owl.yaml")).toEqual(inPlace);
  expect(readFileSync(inPlace.file, "utf8")).toBe(config.text);
});

test("another one that is there stays, and so does what is no file", async () => {
  const beside = { file: join(root, "owl.yaml.restored"), inPlace: false };
  writeFileSync(join(root, "owl.yaml"), "mine");
  expect(await restored("owl.yaml")).toEqual(beside);
  expect(readFileSync(join(root, "owl.yaml"), "utf8")).toBe("mine");
  mkdirSync(join(root, "taken"));
  expect(await restored("taken")).toEqual(beside);
  expect(await restored("owl.yaml/under-a-file")).toEqual(beside);
});
