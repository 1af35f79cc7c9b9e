// An EventSource that keeps books: it comes back with Last-Event-ID, and every id follows the one before it.

import { type ClientRequest, request } from "node:http";
import { systemClock } from "../../../config/system-time.ts";

export interface EventStream {
  events(): number;
  /** How often it was ended and came back. */
  moves(): number;
  stop(): void;
}

const COME_BACK_MS = 100;

/** Opens one on `/events`; `fail` is told what must not happen. */
export function startEventStream(port: number, fail: (what: string) => void): EventStream {
  let last: number | null = null;
  let events = 0;
  let moves = 0;
  let over = false;
  let asked: ClientRequest | null = null;
  const take = (block: string) => {
    const id = /^id: (\d+)$/m.exec(block)?.[1];
    if (id === undefined) return;
    if (last !== null && Number(id) !== last + 1) fail(`event ${id} came after ${last}`);
    last = Number(id);
    events++;
  };
  const comeBack = () => {
    if (over) return;
    moves++;
    systemClock.after(COME_BACK_MS, open);
  };
  const open = () => {
    if (over) return;
    let isAnswered = false;
    const headers = last === null ? {} : { "last-event-id": String(last) };
    const mine = request({ host: "127.0.0.1", port, path: "/events", agent: false, headers }, (response) => {
      isAnswered = true;
      if (response.statusCode !== 200) {
        fail(`an event stream got status ${response.statusCode}`);
        over = true;
        mine.destroy();
        return;
      }
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        const blocks = (text + chunk).split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) take(block);
      });
      response.on("end", comeBack);
      response.on("error", (error) => {
        if (over) return;
        fail(`an event stream was cut: ${error.message}`);
        comeBack();
      });
    });
    asked = mine;
    mine.on("error", (error) => {
      // After an answer `response` tells of it.
      if (!over && !isAnswered) fail(`an event stream could not be opened: ${error.message}`);
    });
    mine.end();
  };
  open();
  return {
    events: () => events,
    moves: () => moves,
    stop() {
      over = true;
      asked?.destroy();
    },
  };
}
