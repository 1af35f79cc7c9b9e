import { expect, test } from "vitest";
import { parsePasswd, planSwitch } from "../../../../supervisor/process/user-switch.ts";

const PASSWD = "root:x:0:0:root:/root:/bin/bash\nowl-app:x:998:997:Owl:/var/lib/owl:/usr/sbin/nologin\nbroken\n";
const account = { name: "owl-app", uid: 998, gid: 997, home: "/var/lib/owl" };

test("an account is found by name and by number", () => {
  expect(parsePasswd(PASSWD, "owl-app")).toEqual(account);
  expect(parsePasswd(PASSWD, "998")).toEqual(account);
  expect(parsePasswd(PASSWD, "owl")).toBeNull();
});

test("owld's own user needs no switch", () => {
  expect(planSwitch(["node", "a.js"], account, 998, null)).toEqual({ argv: ["node", "a.js"] });
});

test("with setpriv the account's groups come along and no capability does", () => {
  const { argv, uid } = planSwitch(["node", "a.js"], account, 996, "/usr/bin/setpriv");
  expect(argv).toEqual([
    "/usr/bin/setpriv",
    "--reuid=998",
    "--regid=997",
    "--init-groups",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--",
    "node",
    "a.js",
  ]);
  expect(uid).toBeUndefined();
});

test("as root without setpriv the ids are given to spawn", () => {
  expect(planSwitch(["node"], account, 0, null)).toEqual({ argv: ["node"], uid: 998, gid: 997 });
});

test("an ordinary user without setpriv is refused with the way on", () => {
  expect(() => planSwitch(["node"], account, 1_000, null)).toThrow(
    expect.objectContaining({ code: "spawn.failed", next: expect.stringContaining("CAP_SETUID") }),
  );
});
