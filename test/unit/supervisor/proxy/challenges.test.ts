import { expect, test } from "vitest";
import { challengeAnswer } from "../../../../supervisor/proxy/challenges.ts";

const shown = [{ kind: "http", token: "abc", answer: "abc.def" }] as const;
const head = (target: string) => `GET ${target} HTTP/1.1\r\nHost: owl.test\r\n\r\n`;

test("a challenge is answered at its own path only, and nothing while none is asked for", () => {
  const path = "/.well-known/acme-challenge/abc";
  expect(String(challengeAnswer(head(path), shown))).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nabc\.def$/);
  for (const other of ["/", `${path}d`, `${path}/`, "/.well-known/acme-challenge/"])
    expect(challengeAnswer(head(other), shown)).toBeNull();
  expect(challengeAnswer(head(path), [])).toBeNull();
});
