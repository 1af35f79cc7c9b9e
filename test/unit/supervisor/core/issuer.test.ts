// What an identity provider says of itself.

import { expect, test } from "vitest";
import { issuerProblem } from "../../../../supervisor/core/issuer.ts";

const GOOD = {
  issuer: "https://id.example.org",
  authorization_endpoint: "https://id.example.org/auth",
  token_endpoint: "https://id.example.org/token",
  jwks_uri: "https://id.example.org/jwks",
};

test.each([
  [JSON.stringify(GOOD), null],
  [JSON.stringify({ ...GOOD, code_challenge_methods_supported: ["S256"] }), null],
  [JSON.stringify({ ...GOOD, code_challenge_methods_supported: ["plain"] }), "it does not take PKCE with S256"],
  [
    JSON.stringify({ ...GOOD, issuer: "https://other" }),
    "it calls itself https://other: write that as auth.oidc.issuer",
  ],
  [JSON.stringify({ ...GOOD, jwks_uri: undefined }), "it names no jwks_uri"],
  ["null", "it answers no JSON object"],
  ["<html>", "it answers no JSON"],
])("%s", (text, problem) => {
  expect(issuerProblem(GOOD.issuer, text)).toBe(problem);
});
