// What an identity provider says of a person -> whether they may come in, as what, under which name. Pure.
// Invariant: what decides is verified: a mail address counts only where the provider says so.

import type { OidcConfig } from "../../config/auth-config.ts";
import type { Role } from "./approval.ts";

export type Claims = Readonly<Record<string, unknown>>;

type Judged =
  /** `role` null: groups decide nothing, the account's own holds. */
  | { readonly verdict: "welcome"; readonly role: Role | null; readonly email: string | null }
  | { readonly verdict: "refused"; readonly why: "group" | "domain" };

export function judgeClaims(claims: Claims, rules: Pick<OidcConfig, "groups" | "roles" | "domains">): Judged {
  const email = verifiedEmail(claims);
  if (rules.domains !== null && !rules.domains.includes(email?.slice(email.lastIndexOf("@") + 1) ?? ""))
    return { verdict: "refused", why: "domain" };
  if (rules.roles === null) return { verdict: "welcome", role: null, email };
  const groups = new Set(groupsOf(claims, rules.groups));
  const isIn = (wanted: readonly string[]) => wanted.some((group) => groups.has(group));
  if (isIn(rules.roles.administrator)) return { verdict: "welcome", role: "administrator", email };
  if (rules.roles.member === null || isIn(rules.roles.member)) return { verdict: "welcome", role: "member", email };
  return { verdict: "refused", why: "group" };
}

/** In lower case; null where there is none, or nobody vouches for it. */
function verifiedEmail({ email, email_verified: isVerified }: Claims): string | null {
  return typeof email === "string" && /^[^@\s]+@[^@\s]+$/.test(email) && isVerified === true
    ? email.toLowerCase()
    : null;
}

/** Of the claim called so, else of the one inside others that the dots lead to. */
function groupsOf(claims: Claims, name: string): readonly string[] {
  const inside = name
    .split(".")
    .reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? (at as Claims)[key] : undefined), claims);
  return [claims[name] ?? inside].flat().filter((group) => typeof group === "string");
}

const NAME_CHARACTERS = 64;
const MOST_NUMBERED = 9;

/** Names an account of this person could have, the best first; `last` makes one that is surely free. */
export function accountNames({ preferred_username: user, email, name }: Claims, last: string): readonly string[] {
  const given = [user, email, name].map(nameOf).filter((one) => one !== null);
  const wanted = given.length === 0 ? ["person"] : given;
  const [first = ""] = wanted;
  const numbered = (mark: string | number) => `${first.slice(0, NAME_CHARACTERS - String(mark).length - 1)}-${mark}`;
  const numbers = Array.from({ length: MOST_NUMBERED - 1 }, (_, n) => numbered(n + 2));
  return [...new Set([...wanted, ...numbers, numbered(last)])];
}

/** As an account may be called; null where nothing of it is left. */
function nameOf(raw: unknown): string | null {
  if (typeof raw !== "string") return null;
  const name = raw
    .slice(0, 200)
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9._@-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, NAME_CHARACTERS);
  return name === "" ? null : name;
}
