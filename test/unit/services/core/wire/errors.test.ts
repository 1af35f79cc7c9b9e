import { glob, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { failure, statusOf } from "../../../../../services/core/wire/errors.ts";

test("an error says its row's sentence with the values filled in, and its code without the word after #", () => {
  expect(failure("account.conflict", { name: "mina" })).toMatchObject({
    code: "account.conflict",
    message: "The account mina is there already.",
  });
  expect(failure("account.conflict#last")).toMatchObject({
    code: "account.conflict",
    next: "Add another administrator first.",
  });
});

test("values that look like a place are not filled in again", () => {
  expect(failure("batch.conflict", { state: "{act}", act: "pause" }).message).toBe(
    "A batch that is {act} cannot pause.",
  );
});

test("a code has one status, and an unknown one has none", () => {
  expect(statusOf("turn.running")).toBe(409);
  expect(statusOf("nothing.such")).toBeNull();
});

test("the services throw no error that is not on the list", async () => {
  const root = new URL("../../../../../services/", import.meta.url);
  for await (const file of glob("**/*.ts", { cwd: root })) {
    if (file === "core/wire/errors.ts") continue;
    expect(await readFile(new URL(file, root), "utf8"), file).not.toContain("new OwlError(");
  }
});
