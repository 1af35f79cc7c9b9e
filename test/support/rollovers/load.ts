// Load that audits itself, against rollover-web.ts behind the proxy: every request sent is answered rightly, every event
// comes once and in order, every WebSocket ends with 1012 and comes back. Whatever else happens is a failure, by name.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startEventStream } from "./event-stream.ts";
import { Client } from "./raw-client.ts";
import { startWebSocket } from "./web-socket.ts";

export interface LoadWanted {
  readonly port: number;
  readonly clients: number;
  readonly streams: number;
  readonly sockets: number;
}

export interface LoadFigures {
  readonly gets: number;
  readonly posts: number;
  /** Keys of the POSTs that were answered with 200. */
  readonly posted: ReadonlySet<string>;
  readonly events: number;
  readonly streamsMoved: number;
  readonly messages: number;
  readonly socketsMoved: number;
  /** Sentences; empty: all went well. */
  readonly failures: readonly string[];
}

export interface RolloverLoad {
  /** Requests answered so far. */
  readonly requests: () => number;
  readonly failures: () => readonly string[];
  /** How often the least moved of the long connections has been moved so far. */
  readonly leastMoves: () => { readonly streams: number; readonly sockets: number };
  stop(): Promise<LoadFigures>;
}

/** Half GET, half POST from keep-alive clients, one after the other, and long connections beside them. */
export function startRolloverLoad(wanted: LoadWanted): RolloverLoad {
  const failures: string[] = [];
  const fail = (what: string) => {
    if (failures.length < 1_000) failures.push(what);
  };
  const posted = new Set<string>();
  let gets = 0;
  let posts = 0;
  let on = true;
  const one = async (number: number) => {
    const client = new Client(wanted.port);
    for (let n = 0; on; n++) {
      const key = `${number}-${n}`;
      const isPost = n % 2 === 1;
      const answer = await client.ask(isPost ? "POST" : "GET", isPost ? `/post/${key}` : "/who", isPost ? key : "");
      if ("failure" in answer) fail(`${isPost ? "POST" : "GET"} ${key}: ${answer.failure}`);
      else if (answer.status !== 200) fail(`${isPost ? "POST" : "GET"} ${key}: status ${answer.status}`);
      else if (isPost && answer.body !== key) fail(`POST ${key}: answered ${answer.body}`);
      else if (isPost) posted.add(key);
      if (isPost) posts++;
      else gets++;
    }
    client.close();
  };
  const loops = Array.from({ length: wanted.clients }, (_, number) => one(number));
  const streams = Array.from({ length: wanted.streams }, () => startEventStream(wanted.port, fail));
  const sockets = Array.from({ length: wanted.sockets }, () => startWebSocket(wanted.port, fail));
  const sum = <T>(list: readonly T[], of: (one: T) => number) => list.reduce((total, one) => total + of(one), 0);
  return {
    requests: () => gets + posts,
    failures: () => failures,
    leastMoves: () => ({
      streams: Math.min(...streams.map((stream) => stream.moves())),
      sockets: Math.min(...sockets.map((socket) => socket.moves())),
    }),
    async stop() {
      on = false;
      await Promise.all(loops);
      for (const long of [...streams, ...sockets]) long.stop();
      for (const stream of streams) if (stream.events() === 0) fail("an event stream heard nothing");
      for (const socket of sockets) if (socket.messages() === 0) fail("a WebSocket heard nothing");
      return {
        gets,
        posts,
        posted,
        events: sum(streams, (stream) => stream.events()),
        streamsMoved: sum(streams, (stream) => stream.moves()),
        messages: sum(sockets, (socket) => socket.messages()),
        socketsMoved: sum(sockets, (socket) => socket.moves()),
        failures: [...failures],
      };
    },
  };
}

export interface Executed {
  readonly executed: number;
  /** Keys executed more than once. */
  readonly twice: readonly string[];
  /** Keys answered with 200 and never executed. */
  readonly lost: readonly string[];
}

/** What the instances noted in `dir` of the POSTs, against what the clients were told. */
export function auditPosts(dir: string, posted: ReadonlySet<string>): Executed {
  const keys = readdirSync(dir).flatMap((file) => readFileSync(join(dir, file), "utf8").trim().split("\n"));
  const seen = new Set<string>();
  const twice = keys.filter((key) => seen.size === seen.add(key).size);
  return { executed: keys.length, twice, lost: [...posted].filter((key) => !seen.has(key)) };
}
