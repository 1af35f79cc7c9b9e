// Who is asked before a call, by role.

import { expect, test } from "vitest";
import { mayAllow, toolsToAllow } from "../../../../services/core/approval.ts";

test("where only members' calls wait, an administrator's are made at once", () => {
  const asked = (approvalOf: "everyone" | "members") =>
    (["member", "administrator"] as const).map((role) => toolsToAllow({ approval: ["mail"], approvalOf }, role));
  expect(asked("everyone")).toEqual([["mail"], ["mail"]]);
  expect(asked("members")).toEqual([["mail"], []]);
});

test.each([
  ["owner", { own: true, others: false }, { own: true, others: false }],
  ["administrators", { own: true, others: false }, { own: true, others: true }],
  ["onlyAdministrators", { own: false, others: false }, { own: true, others: true }],
] as const)("approvers %s: what a member may allow, and an administrator", (approvers, member, administrator) => {
  expect(mayAllow({ approvers }, "member")).toEqual(member);
  expect(mayAllow({ approvers }, "administrator")).toEqual(administrator);
});
