import { expect, test } from "vitest";
import { systemRandom } from "../../../config/system-time.ts";
import { createRequestIds } from "../../../supervisor/proxy/request-ids.ts";

test("every id is a version 4 UUID of its own, over several batches", () => {
  const next = createRequestIds(systemRandom);
  const ids = Array.from({ length: 1_000 }, next);
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("all of the chance given goes into the ids", () => {
  const token = Buffer.from(Array.from({ length: 2_048 }, (_, index) => index % 16)).toString("base64url");
  const next = createRequestIds({ ...systemRandom, token: () => token });
  expect(next()).toBe("00010203-0405-4607-8809-0a0b0c0d0e0f");
});
