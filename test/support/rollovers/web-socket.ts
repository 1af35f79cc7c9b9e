// A WebSocket that talks all the time and comes back when it is told 1012 (service restart). Any other end is a failure.

import { systemClock } from "../../../config/system-time.ts";

export interface TalkingSocket {
  /** Echoes heard. */
  messages(): number;
  /** How often it was closed with 1012 and came back. */
  moves(): number;
  stop(): void;
}

const TALK_MS = 50;
const COME_BACK_MS = 100;
const SERVICE_RESTART = 1012;

/** Opens one on `/ws`; `fail` is told what must not happen. */
export function startWebSocket(port: number, fail: (what: string) => void): TalkingSocket {
  let messages = 0;
  let moves = 0;
  let over = false;
  let socket: WebSocket | null = null;
  const open = () => {
    if (over) return;
    const mine = new WebSocket(`ws://127.0.0.1:${port}/ws`);
    socket = mine;
    let said = 0;
    let heard = 0;
    const say = () => {
      if (over || mine.readyState !== WebSocket.OPEN) return;
      mine.send(String(++said));
    };
    mine.addEventListener("open", say);
    mine.addEventListener("message", ({ data }) => {
      if (Number(data) !== ++heard) fail(`a WebSocket heard ${String(data)} instead of ${heard}`);
      messages++;
      systemClock.after(TALK_MS, say);
    });
    mine.addEventListener("close", ({ code }) => {
      if (over) return;
      if (code !== SERVICE_RESTART) fail(`a WebSocket was closed with ${code} after ${heard} messages`);
      moves++;
      systemClock.after(COME_BACK_MS, open);
    });
  };
  open();
  return {
    messages: () => messages,
    moves: () => moves,
    stop() {
      over = true;
      socket?.close();
    },
  };
}
