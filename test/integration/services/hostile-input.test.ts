// Every registered route against hostile input and strangers. The routes are those the guard knows: a new one is in here
// without anybody adding it.

import type { FastifyInstance, InjectOptions } from "fastify";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock as clock, systemRandom as random } from "../../../config/system-time.ts";
import { createListener } from "../../../services/db/listen.ts";
import { createDatabase, type Database } from "../../../services/db/pool.ts";
import { createQueue } from "../../../services/db/queue.ts";
import { textOf } from "../../../services/text/text.ts";
import { createAccountGate } from "../../../services/web/account-limits.ts";
import { createApp } from "../../../services/web/app.ts";
import { createEventStreams } from "../../../services/web/event-stream.ts";
import { createPasswordWork } from "../../../services/web/password-work.ts";
import { PASSWORD, type Services, startServices } from "../../support/services.ts";

let services: Services;
let db: Database;
let app: FastifyInstance;
let cookie = "";

const NOWHERE = "00000000-0000-4000-8000-000000000000";

beforeAll(async () => {
  services = await startServices();
  const log = pino({ level: "silent" });
  const onError = () => undefined;
  db = createDatabase({ url: services.url, max: 4, onError });
  const queue = createQueue({ database: db, instance: "web-1", upkeep: false, onError, onWarning: onError });
  const listener = createListener({
    url: services.url,
    channels: ["owl_turn", "owl_observe", "owl_worker_gone"],
    clock,
    onError,
  });
  const streams = createEventStreams({ clock, random, listener, most: 200 });
  const common = { config: services.config, instance: "web-1", release: "test", text: textOf("en") };
  const passwords = createPasswordWork();
  app = await createApp({
    ...common,
    passwords,
    db,
    aside: db,
    searches: createAccountGate("searches", 2),
    queue,
    listener,
    streams,
    clock,
    random,
    log,
    notReady: () => null,
  });
  const signedIn = await app.inject({
    method: "POST",
    url: "/api/session",
    payload: { name: "admin", password: PASSWORD },
  });
  cookie = String(signedIn.headers["set-cookie"]).split(";")[0] ?? "";
});
afterAll(async () => {
  await app?.close();
  await db?.stop();
  await services?.stop();
});

interface Route {
  readonly method: InjectOptions["method"] & string;
  readonly url: string;
}

function routes(): readonly Route[] {
  const found = [...app.access.keys()].map((route) => route.split(" ") as [Route["method"], string]);
  expect(found.length).toBeGreaterThan(80);
  return found.map(([method, url]) => ({ method, url }));
}

const ask = async ({ method, url }: Route, options: InjectOptions = {}) =>
  (await app.inject({ method, url, ...options, headers: { cookie, ...options.headers } })).statusCode;

const filledIn = (url: string, value = NOWHERE) => url.replace(/:\w+/g, value);
const WRITES = new Set(["POST", "PUT", "PATCH", "DELETE"]);

test("NUL in an address or a query is 400 everywhere", async () => {
  for (const { method, url } of routes()) {
    const places = [`${filledIn(url)}?x=%00`, `${filledIn(url)}?name=a%00b`];
    if (url.includes(":")) places.push(filledIn(url, "%00"));
    for (const place of places) expect(await ask({ method, url: place }), `${method} ${place}`).toBe(400);
  }
});

test.each(["%ff", "%", "1;drop", "..%2f..%2fetc", "x".repeat(1_000), "%F0%9F%92%A9", "__proto__", " "])(
  "an address with %.20s instead of an id is 4xx, or a page",
  async (value) => {
    for (const { method, url } of routes().filter((one) => one.url.includes(":"))) {
      const status = await ask({ method, url: filledIn(url, value) });
      if (app.access.get(`${method} ${url}`) !== "public")
        expect(status, `${method} ${url}`).toBeGreaterThanOrEqual(400);
      expect(status, `${method} ${url}`).toBeLessThan(500);
    }
  },
);

const mark = (key: unknown, id: unknown = NOWHERE) => Buffer.from(JSON.stringify([key, id])).toString("base64url");
const FORGED = [
  "AAAA",
  mark("9".repeat(19)),
  mark("-1"),
  mark("1e3"),
  mark(["1"]),
  mark("1", "-".repeat(36)),
  mark("1", [NOWHERE]),
  mark(null),
  Buffer.from(`[${"[".repeat(150)}`).toString("base64url"),
];

test("a forged page mark is 400 wherever a list is paged", async () => {
  let paged = 0;
  for (const { method, url } of routes()) {
    if (method !== "GET" || url === "/api/events") continue;
    for (const name of ["next", "before"]) {
      if ((await ask({ method, url: `${url}?${name}=AAAA` })) !== 400 || url.includes(":")) continue;
      paged += 1;
      for (const forged of FORGED) {
        expect(await ask({ method, url: `${url}?${name}=${forged}` }), `${url} ${forged}`).toBe(400);
      }
    }
  }
  expect(paged).toBeGreaterThanOrEqual(7);
});

test.each(["limit", "state", "kind", "owner", "search", "archived", "format", "playbookId", "sinceMs", "lines"])(
  "a query whose %s is odd, twice there or huge is never 5xx",
  async (name) => {
    for (const { method, url } of routes()) {
      if (method !== "GET" || url === "/api/events") continue;
      for (const value of ["", "-1", "9".repeat(12), "'", "%25", "\\", "x".repeat(5_000), `1&${name}=2`]) {
        const place = `${filledIn(url)}?${name}=${value}`;
        expect(await ask({ method, url: place }), place).toBeLessThan(500);
      }
    }
  },
);

const NAMES = ["name", "password", "newPassword", "text", "title", "steps", "path", "version", "dataSource", "kind"];
const all = (value: unknown) => Object.fromEntries(NAMES.map((name) => [name, value]));
const BODIES: readonly (readonly [string, string])[] = [
  ["broken JSON", "{"],
  ["a number", "5"],
  ["a text", '"x"'],
  ["a list", "[]"],
  ["false", "false"],
  ["deep nesting", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ["deep nesting in a field", `{"steps":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}`],
  ["NUL", JSON.stringify(all("a\u0000b"))],
  ["a key with NUL", '{"\\u0000":1}'],
  ["half a character", JSON.stringify(all("\ud83d"))],
  ["a stranger's key", '{"administrator":true}'],
  ["a prototype", '{"__proto__":{"administrator":true},"constructor":1}'],
  ["nulls", JSON.stringify(all(null))],
  ["numbers", JSON.stringify(all(1e308))],
  ["lists", JSON.stringify(all([[]]))],
];

test.each(BODIES)("a body that is %s is 4xx at every write", async (_what, payload) => {
  for (const { method, url } of routes()) {
    // What is no JSON there is a file.
    if (!WRITES.has(method) || url.startsWith("/api/attachments")) continue;
    const status = await ask(
      { method, url: filledIn(url) },
      { payload, headers: { "content-type": "application/json" } },
    );
    expect(status, `${method} ${url}`).toBeGreaterThanOrEqual(400);
    expect(status, `${method} ${url}`).toBeLessThan(500);
  }
});

test("a null for a password, a missing body and a wrong type change nothing", async () => {
  const bad: readonly (readonly [Route["method"], string, unknown])[] = [
    ["PUT", "/api/session/password", undefined],
    ["PUT", "/api/session/password", { password: PASSWORD, newPassword: null }],
    ["POST", "/api/admin/users/admin/password", { password: null }],
    ["POST", "/api/admin/users/admin/password", { password: 5 }],
    ["POST", "/api/admin/users/admin/disable", { disabled: false }],
    ["POST", "/internal/users/admin/password", { password: [] }],
    ["POST", "/api/admin/users", undefined],
  ];
  for (const [method, url, payload] of bad) {
    expect(await ask({ method, url }, payload === undefined ? {} : { payload: payload as object }), url).toBe(400);
  }
  const again = await app.inject({ method: "GET", url: "/api/session", headers: { cookie } });
  expect(again.json()).toMatchObject({ name: "admin" });
});

test("a forged event id ends no stream with 5xx", async () => {
  const odd = [`${"-".repeat(36)}:1`, "a:b", "x".repeat(20_000), "%00", "9".repeat(30)];
  for (const lastEventId of odd) {
    expect(
      await ask({ method: "GET", url: `/api/turns/${NOWHERE}/events` }, { headers: { "last-event-id": lastEventId } }),
    ).toBe(404);
  }
});

/** The same address, with one letter of each part written as its code. */
const disguised = (url: string) =>
  url.replace(/\/([a-z])/g, (_all, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`);

test("without a session nothing but what says that it is public is answered, however its address is written", async () => {
  let open = 0;
  for (const { method, url } of routes()) {
    const access = app.access.get(`${method} ${url}`);
    for (const place of [filledIn(url), disguised(filledIn(url))]) {
      const { statusCode } =
        access === "public"
          ? { statusCode: 0 }
          : await app.inject({ method, url: place, headers: { "x-forwarded-for": "10.0.0.1" } });
      if (access === "public") open += 1;
      else expect(statusCode, `${method} ${place}`).toBe(access === "socket" ? 404 : 401);
    }
  }
  const publicOnes = routes().filter(({ method, url }) => app.access.get(`${method} ${url}`) === "public");
  expect(open).toBe(publicOnes.length * 2);
  expect(publicOnes.map(({ url }) => url).filter((url) => url.startsWith("/api/"))).toEqual([
    "/api/session",
    "/api/shared",
    "/api/shared",
    "/api/openapi.json",
    "/api/openapi.json",
  ]);
});

test("no other spelling of an address leads anywhere without a session", async () => {
  const spellings = [
    (url: string) => `/${url}`,
    (url: string) => url.toUpperCase(),
    (url: string) => `${url}/`,
    (url: string) => `/x/..${url}`,
    (url: string) => `/.${url}`,
    (url: string) => url.replace(/\//g, "%2f"),
    (url: string) => `${url};x=1`,
  ];
  for (const { method, url } of routes().filter((one) => one.url.startsWith("/api/"))) {
    if (app.access.get(`${method} ${url}`) === "public") continue;
    for (const spell of spellings) {
      const place = spell(filledIn(url));
      expect((await app.inject({ method, url: place })).statusCode, `${method} ${place}`).toBeGreaterThanOrEqual(400);
    }
  }
});

test("a write from another origin is refused at every route, however its address is written", async () => {
  for (const { method, url } of routes().filter((one) => WRITES.has(one.method))) {
    for (const place of [filledIn(url), disguised(filledIn(url))]) {
      const status = await ask({ method, url: place }, { headers: { origin: "http://evil.test" } });
      expect(status, `${method} ${place}`).toBe(403);
    }
  }
});
