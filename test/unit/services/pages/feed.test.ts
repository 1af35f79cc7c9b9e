import { afterEach, describe, expect, test } from "vitest";
import { createFeed, type Feed, feedEventOf } from "../../../../services/web/pages/events/feed.ts";
import type { FeedMessage } from "../../../../services/web/pages/events/messages.ts";
import { createTestClock, settle } from "../../../support/test-clock.ts";

interface Connection {
  readonly lastId: string | null;
  readonly signal: AbortSignal;
  send(text: string): void;
  end(): void;
}

function setup(
  statusOf: (attempt: number) => number = () => 200,
  buildOf: (attempt: number) => string | null = () => null,
) {
  const clock = createTestClock();
  const connections: Connection[] = [];
  const told: FeedMessage[] = [];
  let attempts = 0;
  const feed = createFeed({
    clock,
    random: { float: () => 0.5, uuid: () => "u", token: () => "t" },
    tell: (message) => told.push(message),
    async fetch(_path, init) {
      attempts += 1;
      const status = statusOf(attempts);
      if (status !== 200) return new Response(null, { status });
      let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
      const signal = init.signal as AbortSignal;
      const body = new ReadableStream<Uint8Array>({
        start(given) {
          controller = given;
          signal.addEventListener("abort", () => given.error(signal.reason), { once: true });
        },
      });
      connections.push({
        lastId: (init.headers as Record<string, string>)["last-event-id"] ?? null,
        signal,
        send: (text) => controller?.enqueue(new TextEncoder().encode(text)),
        end: () => controller?.close(),
      });
      const build = buildOf(attempts);
      return new Response(body, { status, headers: build === null ? {} : { "owl-build": build } });
    },
  });
  feeds.push(feed);
  return { clock, feed, connections, told, attempts: () => attempts };
}

const feeds: Feed[] = [];
afterEach(() => {
  for (const feed of feeds.splice(0)) feed.stop();
});

/** Lets promises run until the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !condition(); turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(condition()).toBe(true);
}

const delta = (id: string, seq: number) =>
  `id: ${id}\nevent: delta\ndata: {"turnId":"t","conversationId":"c","seq":${seq},"text":"x"}\n\n`;

describe("the browser's event stream", () => {
  test("comes back with the last id it saw, and half a frame is never told", async () => {
    const { clock, feed, connections, told } = setup();
    feed.start();
    await until(() => connections.length === 1);
    connections[0]?.send(`${delta("t:1", 1)}id: t:2\nevent: delta\ndata: {"te`);
    await until(() => told.some((message) => message.kind === "event"));
    connections[0]?.end();
    await until(() => feed.status().state === "lost");
    await clock.advance(200);
    await until(() => connections.length === 2);
    expect(connections[1]?.lastId).toBe("t:1");
    expect(told.filter((message) => message.kind === "event")).toHaveLength(1);
  });

  test("a connection that says nothing for two heartbeats is given up and made anew", async () => {
    const { clock, feed, connections } = setup();
    feed.start();
    await until(() => feed.status().state === "open");
    await clock.advance(20_000);
    connections[0]?.send(": still here\n\n");
    await settle();
    await clock.advance(30_000);
    expect(connections[0]?.signal.aborted).toBe(false);
    await clock.advance(4_000);
    await until(() => connections.length === 2);
    expect(connections[0]?.signal.aborted).toBe(true);
  });

  test("nobody signed in: it stops asking until it is started again", async () => {
    const { clock, feed, attempts } = setup((attempt) => (attempt === 1 ? 401 : 200));
    feed.start();
    await until(() => feed.status().state === "signedOut");
    await clock.advance(60_000);
    expect(attempts()).toBe(1);
    feed.restart();
    await until(() => feed.status().state === "open");
  });

  test("a server that is away is asked at growing distances, in no storm", async () => {
    const { clock, feed, attempts } = setup(() => 503);
    feed.start();
    await until(() => feed.status().state === "lost");
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      await until(() => feed.status().state === "lost");
    }
    expect(attempts()).toBeGreaterThan(8);
    expect(attempts()).toBeLessThan(20);
  });
});

test("each new stream tells the build of the server it goes to, kept while the connection is lost", async () => {
  const { clock, feed, connections } = setup(undefined, (attempt) => ["", "old", "new", null][attempt] ?? null);
  expect(feed.status().build).toBeNull();
  feed.start();
  await until(() => feed.status().state === "open");
  expect(feed.status().build).toBe("old");
  connections[0]?.end();
  await until(() => feed.status().state === "lost");
  expect(feed.status().build).toBe("old");
  await clock.advance(1_000);
  await until(() => feed.status().state === "open");
  expect(feed.status().build).toBe("new");
  // A server of before this was told.
  connections[1]?.end();
  await until(() => feed.status().state === "lost");
  await clock.advance(1_000);
  await until(() => feed.status().state === "open");
  expect(feed.status().build).toBeNull();
});

test("only events of known shapes come through", () => {
  expect(feedEventOf("delta", '{"turnId":"t","conversationId":"c","seq":3,"text":"x"}')).toEqual({
    kind: "turn",
    turnId: "t",
    conversationId: "c",
    event: { seq: 3, kind: "delta", data: { text: "x" } },
  });
  expect(feedEventOf("changed", '{"what":"batch","id":"b"}')).toEqual({ kind: "changed", what: "batch", id: "b" });
  expect(feedEventOf("hello", "{}")).toEqual({ kind: "hello", turns: [] });
  for (const [name, data] of [
    ["delta", "{"],
    ["delta", '{"seq":1}'],
    ["future", '{"turnId":"t","seq":1}'],
    [undefined, "{}"],
  ] as const) {
    expect(feedEventOf(name, data)).toBeNull();
  }
});
