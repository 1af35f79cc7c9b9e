import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { readServed } from "../../../../../supervisor/proxies/certificates/files.ts";
import { selfSigned } from "../../../../../supervisor/proxies/certificates/self-signed.ts";

const nowMs = Date.parse("2026-11-30T12:00:00Z");

test("a self-made certificate names every domain, fits its key and is known as self-made", () => {
  const domains = Array.from({ length: 25 }, (_, n) => `name-${n}.${"x".repeat(60)}.example.org`);
  const { cert, key } = selfSigned([...domains, "*.example.org"], nowMs);
  const served = readServed(`${cert}${key}`);
  expect(domains.every((one) => served?.names(one))).toBe(true);
  expect(served?.names("*.example.org")).toBe(true);
  expect(served?.names("example.org")).toBe(false);
  expect(served).toMatchObject({ standIn: true, fromMs: nowMs });
  expect(new X509Certificate(cert).issuer).toBe("CN=Owl stands in");
});

test("what is no pair of certificate and key is none", () => {
  const [one, other] = [selfSigned(["a.example.org"], nowMs), selfSigned(["a.example.org"], nowMs)];
  expect(readServed(`${one.cert}${other.key}`)).toBeNull();
  expect(readServed("")).toBeNull();
});
