import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestModel, type TestModel } from "../../support/model.ts";
import {
  type AppConfigChange,
  createWebClient,
  type Program,
  type Services,
  type SseEvent,
  startServices,
  until,
  type WebClient,
} from "../../support/services.ts";

let services: Services;
let model: TestModel;
let web: Program & { readonly client: WebClient };
let client: WebClient;

beforeAll(async () => {
  model = await startTestModel();
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: null, name: "scripted" } as AppConfigChange["model"],
  });
  web = await services.web();
  await services.worker();
  client = web.client;
  await client.signIn();
});

afterAll(async () => {
  await services?.stop();
  await model?.stop();
});

const textOf = (events: readonly SseEvent[], turnId: string): string =>
  events
    .filter((event) => event.event === "delta" && event.data.turnId === turnId)
    .map((event) => event.data.text)
    .join("");

/** A stream that has said hello; `events` are all up to the one that `stop` takes. */
async function opened(
  of: WebClient,
  stop: (event: SseEvent) => boolean = () => false,
): Promise<{ readonly events: Promise<readonly SseEvent[]> }> {
  let isOpen = false;
  const events = of.events("/api/events", {
    stop: (event) => {
      isOpen ||= event.event === "hello";
      return stop(event);
    },
  });
  // A turn that is older than the stream is told from where it stands.
  await until("the stream is open", async () => isOpen);
  return { events };
}

describe("the account's one event stream", () => {
  test("carries every event of all running turns once, numbered without gaps", async () => {
    let ends = 0;
    const stream = await opened(client, (event) => {
      if (event.event === "end") ends += 1;
      return ends === 2;
    });
    const first = await client.ask("say 15 words every 20 ms");
    const second = await client.ask("say 10 words every 20 ms");
    const events = await stream.events;
    expect(events[0]?.event).toBe("hello");
    for (const { turnId, conversation } of [first, second]) {
      const own = events.filter((event) => event.data.turnId === turnId);
      expect(own.map((event) => event.data.seq)).toEqual(own.map((_, index) => index + 1));
      expect(own.every((event) => event.data.conversationId === conversation)).toBe(true);
      expect(textOf(events, turnId)).toBe((await client.turn(turnId)).answer);
    }
  });

  test("a notification that comes after the end begins nothing anew", async () => {
    let ends = 0;
    const stream = await opened(client, (event) => {
      if (event.event === "end") ends += 1;
      return ends === 2;
    });
    const { turnId } = await client.ask("say 3 words every 20 ms");
    await client.ended(turnId);
    await until("its end is told", async () => ends === 1);
    const late = new Client({ connectionString: services.url });
    await late.connect();
    await late.query("SELECT pg_notify('owl_turn', $1)", [turnId]);
    await late.end();
    // A whole turn after it: what the late one brings is there before that one's end.
    await client.ask("say 3 words every 20 ms");
    const seqs = (await stream.events).filter((event) => event.data.turnId === turnId).map((event) => event.data.seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(seqs.length).toBeGreaterThan(3);
  });

  test("a notification that comes late, of a turn that had ended before the stream began, begins nothing", async () => {
    const { turnId } = await client.ask("say 3 words every 5 ms");
    await client.ended(turnId);
    const stream = await opened(client, (event) => event.event === "end");
    const late = new Client({ connectionString: services.url });
    await late.connect();
    const live = await client.ask("say 30 words every 20 ms");
    await until("the stream follows", async () => (await client.turn(live.turnId)).state === "running");
    await late.query("SELECT pg_notify('owl_turn', $1)", [turnId]);
    await late.end();
    const named = (await stream.events).flatMap((event) => event.data.turnId ?? []);
    expect(named).toContain(live.turnId);
    expect(named).not.toContain(turnId);
  });

  test("resumed after any event it repeats nothing and loses nothing, also when the turn ended meanwhile", async () => {
    const before = await opened(client, (event) => event.data.seq === 4);
    const { turnId } = await client.ask("say 20 words every 20 ms");
    const seen = await before.events;
    await client.ended(turnId);
    const rest = await client.events("/api/events", {
      lastId: seen.at(-1)?.id ?? "",
      stop: (event) => event.event === "hello",
    });
    const all = [...seen, ...rest].filter((event) => event.data.turnId === turnId);
    expect(all.map((event) => event.data.seq)).toEqual(all.map((_, index) => index + 1));
    expect(all.at(-1)?.event).toBe("end");
    expect(textOf(all, turnId)).toBe((await client.turn(turnId)).answer);
    expect(rest.at(-1)?.data.turns).toEqual([]);
  });

  test("greets with the running turns and how far each one is", async () => {
    const { turnId, conversation } = await client.ask("say 100 words every 20 ms");
    await until("it runs", async () => (await client.turn(turnId)).state === "running");
    const [hello] = await client.events("/api/events", { stop: (event) => event.event === "hello" });
    expect(hello?.data.turns).toMatchObject([{ turnId, conversationId: conversation }]);
    expect(hello?.data.turns[0].seq).toBeGreaterThan(0);
    await client.call("POST", `/api/turns/${turnId}/stop`);
    await client.ended(turnId);
  });

  test("tells nothing of another account", async () => {
    const password = "the word of the other";
    await client.call("POST", "/api/admin/users", { name: "other", role: "member", password });
    const other = createWebClient(web.socket);
    await other.signIn("other", password);
    const stream = await opened(other, (event) => event.event === "end");
    const { turnId } = await client.ask("say 5 words every 5 ms");
    await client.ended(turnId);
    const theirs = await other.ask("say 3 words every 5 ms");
    const events = await stream.events;
    expect(
      events.filter((event) => event.event !== "hello").every((event) => event.data.turnId === theirs.turnId),
    ).toBe(true);
  });

  test("names long work that moved", async () => {
    const stream = await opened(client, (event) => event.event === "changed");
    const { body } = await client.call("POST", "/api/schema-analyses", { dataSource: "demo" });
    const changed = (await stream.events).at(-1);
    expect(changed?.data.id).toBe(body.id);
  });

  test("ends once its session is over, and a new one is refused", async () => {
    const stream = await opened(client);
    await services.sql.query("DELETE FROM owl.session");
    // A broken LISTEN connection is one of the moments at which everything is looked up anew.
    await services.sql.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'",
    );
    await stream.events;
    expect((await client.call("GET", "/api/events")).status).toBe(401);
  });
});
