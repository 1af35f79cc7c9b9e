// Who may come in by what an identity provider says, as what, under which name.

import { expect, test } from "vitest";
import { accountNames, judgeClaims } from "../../../../services/core/claims.ts";

const RULES = { groups: "groups", roles: { administrator: ["admins"], member: ["staff"] }, domains: null };
const VERIFIED = { email: "Mina@Example.org", email_verified: true };

test.each([
  [["admins", "staff"], { verdict: "welcome", role: "administrator", email: null }],
  [["staff"], { verdict: "welcome", role: "member", email: null }],
  ["staff", { verdict: "welcome", role: "member", email: null }],
  [["guests"], { verdict: "refused", why: "group" }],
  [[{ name: "staff" }, 7, null], { verdict: "refused", why: "group" }],
  [undefined, { verdict: "refused", why: "group" }],
])("groups %j", (groups, judged) => {
  expect(judgeClaims({ groups }, RULES)).toEqual(judged);
});

test("groups may lie inside another claim, and a claim's own name may have dots", () => {
  const inside = { realm_access: { roles: ["staff"] } };
  expect(judgeClaims(inside, { ...RULES, groups: "realm_access.roles" })).toMatchObject({ role: "member" });
  const dotted = { "https://example.org/groups": ["admins"] };
  expect(judgeClaims(dotted, { ...RULES, groups: "https://example.org/groups" })).toMatchObject({
    role: "administrator",
  });
});

test("without rules for members everybody is one; without any the account's own role holds", () => {
  expect(judgeClaims({}, { ...RULES, roles: { administrator: ["admins"], member: null } })).toMatchObject({
    role: "member",
  });
  expect(judgeClaims({ groups: ["admins"] }, { ...RULES, roles: null })).toMatchObject({ role: null });
});

test("a mail address counts only where the provider vouches for it, and only its own domain", () => {
  const rules = { ...RULES, roles: null, domains: ["example.org"] };
  expect(judgeClaims(VERIFIED, rules)).toMatchObject({ verdict: "welcome", email: "mina@example.org" });
  for (const claims of [
    {},
    { ...VERIFIED, email_verified: false },
    { ...VERIFIED, email_verified: "true" },
    { email: VERIFIED.email },
    { ...VERIFIED, email: "mina@sub.example.org" },
    { ...VERIFIED, email: "mina@example.org@evil.example" },
    { ...VERIFIED, email: "example.org" },
  ])
    expect(judgeClaims(claims, rules)).toEqual({ verdict: "refused", why: "domain" });
});

test("names are what an account may be called, the best first, the last surely free", () => {
  const names = accountNames({ preferred_username: "Mína Kim!", email: "mina@example.org", name: 7 }, "x1");
  expect(names.slice(0, 3)).toEqual(["mi-na-kim-", "mina@example.org", "mi-na-kim--2"]);
  expect(names.at(-1)).toBe("mi-na-kim--x1");
  expect(accountNames({ name: "김미나" }, "x1").slice(0, 2)).toEqual(["person", "person-2"]);
  for (const raw of ["…-_.x", "a".repeat(500), "--", ""])
    for (const name of accountNames({ name: raw }, "abcdef")) expect(name).toMatch(/^[a-z0-9][a-z0-9._@-]{0,63}$/);
});
