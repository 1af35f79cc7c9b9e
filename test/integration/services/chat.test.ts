// The main job: sign in, ask, be answered by a worker, follow and resume the stream.

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Services, startServices, type WebClient } from "../../support/services.ts";

let services: Services;
let client: WebClient;

beforeAll(async () => {
  services = await startServices();
  await services.worker();
  ({ client } = await services.web());
  await client.signIn();
});
afterAll(() => services?.stop());

test("a question in SQL is answered from the demo data source", async () => {
  const { turnId } = await client.ask("SELECT 6 * 7 AS answer");
  const turn = await client.ended(turnId);
  expect(turn).toMatchObject({ state: "answered", message: null });
  expect(turn.answer).toContain("| 42 |");
  expect(turn.answer).toContain("Built-in responder");
});

test("the stream tells states, tool calls and text, and ends by itself; resuming repeats nothing", async () => {
  const { turnId } = await client.ask("count orders");
  const seen = await client.events(`/api/turns/${turnId}/events`);
  expect(seen[0]).toMatchObject({ id: "1", event: "state", data: { state: "queued" } });
  expect(seen.at(-1)).toMatchObject({ event: "end", data: { state: "answered" } });
  const calls = seen.filter((event) => event.event === "tool").map((event) => event.data);
  expect(calls.map((call) => call.state)).toEqual(["running", "done"]);
  expect(calls[1]).toMatchObject({ name: "run_sql", rows: 1 });
  const text = seen.filter((event) => event.event === "delta").map((event) => event.data.text);
  const turn = await client.turn(turnId);
  expect(text.join("")).toBe(turn.answer);
  expect(turn.answer).toContain("3000");
  const again = await client.events(`/api/turns/${turnId}/events`, { lastId: seen[0]?.id ?? "" });
  expect(again.map((event) => event.id)).toEqual(seen.slice(1).map((event) => event.id));
  const after = await client.events(`/api/turns/${turnId}/events`, { lastId: turn.lastEventId });
  expect(after).toEqual([]);
});
