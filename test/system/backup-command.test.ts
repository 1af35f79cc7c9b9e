// `backup.command` with restic: the directory goes elsewhere and comes back as it was.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runBackupCommand } from "../../supervisor/postgres/backups/command.ts";
import { claimPlace, openPlace } from "../../supervisor/postgres/backups/directory.ts";

const never = new AbortController().signal;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "owl-command-"));
  mkdirSync(join(root, "backup"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("restic carries the directory away after a backup, and back to another machine; its failure is told", async () => {
  const directory = join(root, "backup");
  const claim = { path: directory, installation: "one", holder: "h", held: false, passphrase: null, nowMs: 0 };
  const place = await claimPlace(claim);
  const piece = { epoch: 0, timeline: 1, from: 0n, to: 3n };
  await place.putPiece(piece, [Buffer.from("log")]);
  const key = join(root, "key");
  writeFileSync(key, "correct horse battery staple\n");
  const restic = ["-r", join(root, "store"), "--password-file", key];
  const command = ["restic", ...restic, "backup", "--exclude", ".new-*", "{directory}"];

  expect(await runBackupCommand({ command, directory }, never)).toMatchObject({ code: "backup.command" });
  await execa("restic", [...restic, "init"]);
  expect(await runBackupCommand({ command, directory }, never)).toBeNull();
  await execa("restic", [...restic, "restore", "latest", "--target", join(root, "elsewhere")]);

  const there = await openPlace(join(root, "elsewhere", directory), null);
  expect(await there.pieces()).toEqual(await place.pieces());
  const file = (at: string) => readFileSync(join(at, "owl-backup.json"), "utf8");
  expect(file(there.path)).toBe(file(directory));
}, 300_000);
