import fastify, { type FastifyInstance } from "fastify";
import { afterEach, expect, test } from "vitest";
import { holdPlaces } from "../../../../services/web/request-places.ts";
import { createTestClock } from "../../../support/test-clock.ts";

let app: FastifyInstance;
afterEach(() => app.close());

/** Requests name their account; each stays until `go`, or until `next` lets the longest one go. */
function appWithSlowRoute(max: number) {
  const clock = createTestClock();
  const begun: string[] = [];
  const held: (() => void)[] = [];
  const { promise, resolve: go } = Promise.withResolvers<void>();
  app = fastify();
  app.decorateRequest("account", null);
  app.addHook("onRequest", async (request) => {
    const name = String(request.headers.name);
    request.account = { id: name, name, role: "member", initialPassword: false, session: null };
  });
  holdPlaces(app, { clock, db: { counts: () => ({ max, total: 0, idle: 0, waiting: 0 }) } as never });
  for (const [url, isLong] of [
    ["/work", undefined],
    ["/stream", true],
  ] as const) {
    app.get(url, { config: { isLong } }, async (request) => {
      begun.push(`${request.account?.name} ${url}`);
      await Promise.race([promise, new Promise<void>((resolve) => held.push(resolve))]);
      return "done";
    });
  }
  const ask = (name: string, url = "/work") => app.inject({ url, headers: { name } });
  return { begun, go, ask, clock, next: () => held.shift()?.() };
}

const countOf = (begun: readonly string[], one: string) => begun.filter((name) => name === one).length;

test("an account's requests have eight places, what takes long besides; another one's do not wait for them", async () => {
  const { begun, go, ask } = appWithSlowRoute(16);
  const many = Array.from({ length: 30 }, () => ask("mina"));
  const streams = Array.from({ length: 10 }, () => ask("mina", "/stream"));
  await expect.poll(() => countOf(begun, "mina /work"), { timeout: 20_000 }).toBe(8);
  await expect.poll(() => countOf(begun, "mina /stream"), { timeout: 20_000 }).toBe(10);
  const other = ask("jun");
  await expect.poll(() => countOf(begun, "jun /work"), { timeout: 20_000 }).toBe(1);
  expect(countOf(begun, "mina /work")).toBe(8);
  go();
  for (const { statusCode } of await Promise.all([...many, ...streams, other])) expect(statusCode).toBe(200);
  expect(countOf(begun, "mina /work")).toBe(30);
});

test("while somebody else asks an account has three places, and eight again when nobody else does", async () => {
  const { begun, go, ask, clock, next } = appWithSlowRoute(16);
  const other = ask("jun");
  await expect.poll(() => countOf(begun, "jun /work"), { timeout: 20_000 }).toBe(1);
  const many = Array.from({ length: 20 }, () => ask("mina"));
  await expect.poll(() => countOf(begun, "mina /work"), { timeout: 20_000 }).toBe(3);
  next();
  expect((await other).statusCode).toBe(200);
  await clock.advance(2_000);
  many.push(ask("mina"));
  await expect.poll(() => countOf(begun, "mina /work"), { timeout: 20_000 }).toBe(8);
  go();
  for (const { statusCode } of await Promise.all(many)) expect(statusCode).toBe(200);
});

test("beside others whoever had much lately goes one by one, with rests four times as long as the request before", async () => {
  const { begun, go, ask, clock, next } = appWithSlowRoute(16);
  const first = ask("mina");
  await expect.poll(() => begun, { timeout: 20_000 }).toHaveLength(1);
  await clock.advance(1_700);
  next();
  await first;
  // Alone it had no rest.
  const alone = ask("mina");
  await expect.poll(() => begun, { timeout: 20_000 }).toHaveLength(2);
  await clock.advance(100);
  const other = ask("jun");
  await expect.poll(() => begun, { timeout: 20_000 }).toHaveLength(3);
  next();
  await alone;
  const many = [ask("mina"), ask("mina")];
  await clock.advance(399);
  expect(countOf(begun, "mina /work")).toBe(2);
  await clock.advance(1);
  await expect.poll(() => countOf(begun, "mina /work"), { timeout: 20_000 }).toBe(3);
  go();
  await other;
  await many[0];
  await clock.advance(2_000);
  expect((await many[1])?.statusCode).toBe(200);
});

test("no account has more than half of a small pool, and past five hundred in line it is refused", async () => {
  const { begun, go, ask } = appWithSlowRoute(4);
  const many = Array.from({ length: 503 }, () => ask("mina"));
  const refused = await Promise.race(many);
  expect(refused.json()).toMatchObject({ code: "limit.requests" });
  expect(countOf(begun, "mina /work")).toBe(2);
  go();
  const statuses = (await Promise.all(many)).map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 200)).toHaveLength(502);
});
