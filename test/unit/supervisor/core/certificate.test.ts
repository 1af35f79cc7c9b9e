import { expect, test } from "vitest";
import { type CertificateFacts, judgeCertificate } from "../../../../supervisor/core/certificate.ts";
import { en } from "../../../../supervisor/core/text/text.ts";

const day = 86_400_000;
const now = Date.parse("2026-11-30T00:00:00Z");
const good: CertificateFacts = {
  path: "c.pem",
  problem: null,
  standIn: false,
  unnamed: [],
  fromMs: now - 76 * day,
  untilMs: now + 90 * day,
};

test.each<[string, CertificateFacts, string, RegExp]>([
  ["one that fits", good, "OK", /holds until 2027-02-28/],
  ["one that ends in two weeks", { ...good, untilMs: now + 14 * day }, "WARN", /ends in 14 days, on 2026-12-14/],
  ["one with more time left", { ...good, untilMs: now + 14 * day + 1 }, "OK", /holds until/],
  [
    "one in the last quarter of a short life",
    { ...good, fromMs: now - day, untilMs: now + day / 3 },
    "WARN",
    /ends in 0 days/,
  ],
  ["a young one of a short life", { ...good, fromMs: now - day, untilMs: now + 2 * day }, "OK", /holds until/],
  ["one that stands in", { ...good, standIn: true }, "WARN", /self-made/],
  ["one that has ended", { ...good, untilMs: now }, "FAIL", /from 2026-09-15 to 2026-11-30 only/],
  ["one that does not hold yet", { ...good, fromMs: now + 1 }, "FAIL", /only/],
  ["one without a route's host", { ...good, unnamed: ["b.example.org"] }, "WARN", /b\.example\.org/],
  ["one of another key", { path: "c.pem", problem: { kind: "key", key: "k.pem" } }, "FAIL", /not belong to the key k/],
  ["one that cannot be read", { path: "c.pem", problem: { kind: "unusable", why: "ENOENT" } }, "FAIL", /ENOENT/],
])("%s", (_, facts, verdict, said) => {
  const judged = judgeCertificate(facts, now);
  expect(judged.verdict).toBe(verdict);
  expect(judged.found(en.preflight)).toMatch(said);
});
