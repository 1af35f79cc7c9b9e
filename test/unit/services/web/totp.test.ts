import { expect, test } from "vitest";
import { base32, otpAuthUri, stepOfCode } from "../../../../services/web/totp.ts";

const SECRET = Buffer.from("12345678901234567890");

test("codes are those of RFC 6238, right for the step before and after as well", () => {
  for (const [atS, code] of [
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ] as const) {
    const step = Math.floor(atS / 30);
    for (const lateS of [-30, 0, 30]) expect(stepOfCode(SECRET, code, (atS + lateS) * 1_000), code).toBe(step);
    for (const lateS of [-60, 60]) expect(stepOfCode(SECRET, code, (atS + lateS) * 1_000), code).toBeNull();
  }
  for (const code of ["", "28708", "2870820", "287083", "abcdef"]) expect(stepOfCode(SECRET, code, 59_000)).toBeNull();
});

test("a secret is written as authenticator apps read it", () => {
  expect(base32(SECRET)).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  expect(base32(Buffer.from("foobar"))).toBe("MZXW6YTBOI");
  expect(base32(Buffer.alloc(0))).toBe("");
  expect(otpAuthUri(SECRET, "mina@owl", "owl.test")).toBe(
    "otpauth://totp/Owl%20(owl.test):mina%40owl?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Owl%20(owl.test)",
  );
});
