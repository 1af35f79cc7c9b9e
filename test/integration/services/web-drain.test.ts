// A web process that leaves: not ready, its streams ended so that browsers reconnect elsewhere, exit 0; nothing is lost.

import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestModel, type TestModel } from "../../support/model.ts";
import { type Services, startServices, until } from "../../support/services.ts";

let model: TestModel;
let services: Services;

beforeAll(async () => {
  model = await startTestModel();
  services = await startServices({ model: { baseUrl: model.baseUrl, apiKey: "x", name: "m" } });
  await services.worker();
});
afterAll(async () => {
  await services?.stop();
  await model?.stop();
});

test("a stream cut by a leaving web goes on at another one after the last id, and no word is lost or repeated", async () => {
  const [old, next] = [await services.web(), await services.web()];
  await old.client.signIn();
  await next.client.signIn();
  const { turnId } = await old.client.ask("say 60 words every 30 ms");
  const path = `/api/turns/${turnId}/events`;
  await until("it speaks", async () => (await old.client.turn(turnId)).answer);
  const opened = Promise.withResolvers<void>();
  const first = old.client.events(path, {
    stop() {
      opened.resolve();
      return false;
    },
  });
  await opened.promise;
  old.child.kill("SIGTERM");
  old.child.kill("SIGTERM");
  const seen = await first;
  expect(seen.at(-1)?.event).not.toBe("end");
  expect(await old.exited).toEqual({ code: 0, signal: null });
  const lastId = seen.at(-1)?.id ?? "";
  const rest = await next.client.events(path, { lastId });
  expect(rest.at(-1)).toMatchObject({ event: "end", data: { state: "answered" } });
  const all = [...seen, ...rest];
  expect(all.map((one) => Number(one.id))).toEqual(all.map((_, n) => n + 1));
  const text = all.filter((one) => one.event === "delta").map((one) => one.data.text);
  expect(text.join("").trim()).toBe(Array.from({ length: 60 }, (_, n) => `w${n + 1}`).join(" "));
});

test("many streams cost one LISTEN connection", async () => {
  const web = await services.web("web-many");
  await web.client.signIn();
  const { turnId } = await web.client.ask("say 1000 words every 50 ms");
  const open: Promise<unknown>[] = [];
  for (let n = 0; n < 50; n++) open.push(web.client.events(`/api/turns/${turnId}/events`));
  await until("they are open", async () => (await web.client.turn(turnId)).answer);
  const { rows } = await services.sql.query(
    `SELECT count(*)::int AS all, count(*) FILTER (WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1')::int AS listening
       FROM pg_stat_activity WHERE application_name = 'owl/web-many'`,
  );
  // The pool (8), one LISTEN connection, one pulse.
  expect(rows[0].all).toBeLessThanOrEqual(10);
  await web.client.call("POST", `/api/turns/${turnId}/stop`);
  await Promise.all(open);
});

test("a database outage does not make a web unready, and it serves again by itself", async () => {
  const web = await services.web();
  await web.client.signIn();
  await services.sql.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name LIKE 'owl/%'",
  );
  expect((await web.client.call("GET", "/readyz")).status).toBe(200);
  const { turnId } = await until("it asks again", async () => web.client.ask("hello").catch(() => null));
  expect(await web.client.ended(turnId)).toMatchObject({ state: "answered" });
});
