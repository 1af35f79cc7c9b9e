import { expect, test } from "vitest";
import { findProgram, missingProgram } from "../../../config/find-program.ts";

test.each([
  ["sh", "/", "/nowhere:/bin:/usr/bin", { file: expect.stringMatching(/^(\/usr)?\/bin\/sh$/) }],
  ["no-such-program", "/", "/bin", { missing: "no-such-program" }],
  ["bin/sh", "/", undefined, { file: "/bin/sh" }],
  ["/etc/passwd", "/", undefined, { unfit: "/etc/passwd" }],
  ["/etc", "/", undefined, { unfit: "/etc" }],
])("%s in %s", (name, cwd, path, found) => {
  expect(findProgram(name, cwd, path)).toEqual(found);
});

test("a service's own PATH counts before owld's, and a placeholder is nothing to look for", () => {
  const service = { command: ["sh"] as [string, ...string[]], cwd: "/", env: { PATH: "/nowhere" } };
  expect(missingProgram(service, "/bin")).toEqual({ kind: "command", what: "sh" });
  expect(missingProgram({ ...service, env: {} }, "/bin:/usr/bin")).toBeNull();
  expect(missingProgram({ ...service, command: ["{home}/run"] }, "/bin")).toBeNull();
  const health = { check: { kind: "command", command: ["no-such-check"] } } as const;
  const checked = { ...service, env: {}, health };
  expect(missingProgram(checked, "/bin")).toEqual({ kind: "check", what: "no-such-check" });
  expect(missingProgram({ ...service, cwd: "/no/such/place" }, "/bin")).toEqual({
    kind: "cwd",
    what: "/no/such/place",
  });
});
