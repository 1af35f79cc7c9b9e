// Where a service of another user may put its socket.

import { rmSync, statSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { userSocketDirectory } from "../../../../supervisor/state/home.ts";
import { createPaperDisk, openMemoryStore } from "../../../support/memory-store.ts";

test("root gives each user one directory of its own; any other owld has none to give", () => {
  const store = openMemoryStore(createPaperDisk(), () => undefined);
  const made = userSocketDirectory(store, { uid: 65_534, gid: 65_534 });
  expect(userSocketDirectory(store, { uid: 0, gid: 0 })).toBeNull();
  if (made === null) {
    expect(process.geteuid?.()).not.toBe(0);
    return;
  }
  onTestFinished(() => rmSync(made, { recursive: true }));
  const { uid, mode } = statSync(made);
  expect([uid, mode & 0o777]).toEqual([65_534, 0o700]);
  expect(userSocketDirectory(store, { uid: 65_534, gid: 65_534 })).toBe(made);
});
