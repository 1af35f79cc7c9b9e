// The event stream over a fake source and a fake clock: order, wake-ups that are never lost, heartbeats, ends.

import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { Listener } from "../../../../services/db/listen.ts";
import { createEventStreams, type StreamEvent } from "../../../../services/web/event-stream.ts";
import { createTestClock, settle } from "../../../support/test-clock.ts";

/** Everything that is ready has run, also what that made ready. */
async function quiet(): Promise<void> {
  for (let n = 0; n < 10; n++) await settle();
}

/** `most`: events of one read. */
function setup(most = 100) {
  const clock = createTestClock();
  let notify: (payload: string) => void = () => undefined;
  let reconnect = () => undefined as undefined;
  const listener = {
    on: (_channel: string, run: (payload: string) => void) => {
      notify = run;
      return () => undefined;
    },
    onReconnect: (run: () => undefined) => {
      reconnect = run;
      return () => undefined;
    },
  } as unknown as Listener;
  const streams = createEventStreams({ clock, listener, random: {} as never, most: 100 });
  const stored: StreamEvent[] = [];
  let done = false;
  let reads = 0;

  function open(lastId?: string, shared = false, account = "a") {
    const raw = Object.assign(new EventEmitter(), {
      written: "",
      closed: false,
      writableNeedDrain: false,
      setHeader: () => undefined,
      writeHead: () => undefined,
      write(text: string) {
        raw.written += text;
        return true;
      },
      end() {
        raw.closed = true;
      },
    });
    const request = {
      account: { id: account },
      headers: lastId === undefined ? {} : { "last-event-id": lastId },
      query: {},
      log: { warn: () => undefined },
    };
    const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) };
    const source = {
      channel: "owl_turn",
      payload: "t",
      shared,
      async read(after: string) {
        reads += 1;
        const seen = stored.filter((event) => Number(event.id) > Number(after || 0));
        const over = done;
        await new Promise((resolve) => setImmediate(resolve));
        return { events: seen.slice(0, most), done: over && seen.length <= most, more: seen.length > most };
      },
    } as const;
    const over = streams.open(request as never, reply as never, source);
    const ids = () => [...raw.written.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
    return { raw, over, ids };
  }
  const store = (...ids: number[]) =>
    stored.push(...ids.map((id) => ({ id: String(id), event: "delta", data: { text: "x" } })));
  return {
    clock,
    streams,
    open,
    store,
    finish: () => (done = true),
    notify: () => notify("t"),
    reconnect: () => reconnect(),
    reads: () => reads,
  };
}

test("what is stored is told once, in order, whatever the moment of the wake-up; the last event ends the stream", async () => {
  const { open, store, notify, finish } = setup();
  store(1);
  const stream = open();
  await quiet();
  for (let id = 2; id <= 40; id++) {
    store(id);
    notify();
    if (id % 3 === 0) await settle();
  }
  finish();
  notify();
  await quiet();
  await stream.over;
  expect(stream.ids()).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  expect(stream.raw.closed).toBe(true);
});

test("a wake-up during a shared read is not lost, and streams that stand together read once", async () => {
  const { open, store, notify, finish, reads } = setup();
  store(1);
  const all = Array.from({ length: 20 }, () => open(undefined, true));
  await quiet();
  const before = reads();
  store(2);
  notify();
  store(3);
  notify();
  await quiet();
  expect(reads() - before).toBeLessThanOrEqual(4);
  for (const stream of all) expect(stream.ids()).toEqual([1, 2, 3]);
  finish();
  notify();
  await quiet();
  await Promise.all(all.map((stream) => stream.over));
});

test("resumed after an id it repeats nothing; silence is broken by a comment; a reconnect of the listener looks again", async () => {
  const { clock, open, store, streams, reconnect } = setup();
  store(1, 2, 3);
  const stream = open("2");
  await quiet();
  expect(stream.ids()).toEqual([3]);
  expect(stream.raw.written).not.toContain(": still here");
  await clock.advance(15_000);
  expect(stream.raw.written).toContain(": still here");
  store(4);
  reconnect();
  await quiet();
  expect(stream.ids()).toEqual([3, 4]);
  stream.raw.emit("close");
  await stream.over;
  expect(streams.size).toBe(0);
});

test("at the end of the process every stream is ended, spread over its time, and a new one ends after its first read", async () => {
  const { clock, open, store, streams } = setup();
  store(1);
  const all = Array.from({ length: 100 }, () => open());
  await quiet();
  expect(streams.size).toBe(100);
  const ending = streams.endAll();
  await clock.advance(250);
  const half = all.filter((stream) => stream.raw.closed).length;
  expect(half).toBeGreaterThan(40);
  expect(half).toBeLessThan(60);
  await clock.advance(300);
  await ending;
  await Promise.all(all.map((stream) => stream.over));
  const late = open();
  await quiet();
  await late.over;
  expect(late.ids()).toEqual([1]);
});

test("an account has its number of streams and no more; one that ended makes room, another account has its own", async () => {
  const { open, streams } = setup();
  const all = Array.from({ length: 100 }, () => open());
  await quiet();
  await expect(open().over).rejects.toMatchObject({ code: "limit.eventStreams" });
  const other = open(undefined, false, "b");
  await quiet();
  expect(streams.size).toBe(101);
  all[0]?.raw.emit("close");
  await all[0]?.over;
  const next = open();
  await quiet();
  for (const stream of [...all, other, next]) stream.raw.emit("close");
  await Promise.all([...all, other, next].map((stream) => stream.over));
  expect(streams.size).toBe(0);
});

test("what does not fit into one read is read on at once", async () => {
  const { open, store, finish } = setup(3);
  store(...Array.from({ length: 20 }, (_, n) => n + 1));
  finish();
  const stream = open();
  await stream.over;
  expect(stream.ids()).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
});
