// The feed to one proxy process: connects, reconnects, sends tables, collects acknowledgements and counters.
// Invariant: after every (re)connect the whole current table is sent; a version counts as taken only when this
// process said so over the living connection.

import { connect, type Socket } from "node:net";
import { OwlError } from "../../config/errors.ts";
import type { FromProxy, ProxyCounters, ProxySettings, RoutingTable, ToProxy } from "../../config/proxy-feed.ts";
import type { Clock } from "../../config/time.ts";

type Hello = Extract<FromProxy, { type: "hello" }>;

/** At first every 20 ms (it is just starting), later every 250 ms. */
const RETRY_MS = 20;
const SLOW_RETRY_MS = 250;
const QUICK_RETRIES = 250;

interface ProxyClientParts {
  readonly clock: Clock;
  readonly feedSocket: string;
  /** The table to send on connecting; null: none yet. */
  readonly currentTable: () => RoutingTable | null;
  /** It said hello, answered, or the connection broke: look at the fields again. */
  readonly changed: () => void;
  /** The connection broke: the process may be gone. */
  readonly broke: () => void;
}

/** What `succeed` asks; resolves with the new process's pid once that has our table. */
interface SuccessionRequest {
  readonly settings: ProxySettings;
  readonly command: readonly string[];
  readonly stay: boolean;
}

export interface ProxyClient {
  /** Its socket takes connections, whether it answers or not. */
  isConnected(): boolean;
  /** What it said on this connection; null while there is none. */
  hello(): Hello | null;
  /** The newest version it acknowledged on this connection, 0 for none. */
  acknowledged(): number;
  /** Its last counters, also after the connection broke. */
  counters(): ProxyCounters | null;
  /** How many counters lines came so far: tells whether one is newer than a moment. */
  countersSeen(): number;
  /** Sends when connected; false otherwise. */
  send(message: ToProxy): boolean;
  /** Asks it to start its successor. Rejects with `proxy.successorFailed`. */
  succeed(request: SuccessionRequest): Promise<number>;
  /** Has it run a program that holds its listening sockets; resolves with that one's pid. */
  keep(command: readonly string[]): Promise<number>;
  close(): void;
}

export function createProxyClient(parts: ProxyClientParts): ProxyClient {
  let socket: Socket | null = null;
  let connected = false;
  let hello: Hello | null = null;
  let acknowledged = 0;
  let counters: ProxyCounters | null = null;
  let countersSeen = 0;
  let attempts = 0;
  let closed = false;
  let cancelRetry: () => void = () => undefined;
  const successors = new Map<string, PromiseWithResolvers<number>>();
  let keeping: PromiseWithResolvers<number> | null = null;

  const send = (message: ToProxy): boolean => {
    if (socket === null || hello === null) return false;
    socket.write(`${JSON.stringify(message)}\n`);
    return true;
  };

  const receive = (message: FromProxy): void => {
    switch (message.type) {
      case "hello": {
        hello = message;
        attempts = 0;
        const table = parts.currentTable();
        if (table !== null) send({ type: "table", table });
        break;
      }
      case "ack":
        acknowledged = Math.max(acknowledged, message.version);
        break;
      case "counters":
        counters = message.counters;
        countersSeen++;
        break;
      case "idle":
        // Counters say it for all at once; this only brings the question forward.
        send({ type: "counters" });
        return;
      case "successor":
        successors.get(message.id)?.resolve(message.pid);
        successors.delete(message.id);
        break;
      case "successorFailed":
        successors.get(message.id)?.reject(successorFailed(message.id, message.reason));
        successors.delete(message.id);
        break;
      case "kept":
        keeping?.resolve(message.pid);
        break;
      case "draining":
        break;
    }
    parts.changed();
  };

  const rejectAll = (reason: string): void => {
    for (const [id, waiting] of successors) waiting.reject(successorFailed(id, reason));
    successors.clear();
    keeping?.reject(successorFailed("spare", reason));
  };

  const lost = (): void => {
    socket = null;
    connected = false;
    const spoke = hello !== null;
    hello = null;
    acknowledged = 0;
    rejectAll("the old proxy process broke off");
    if (closed) return;
    if (spoke) {
      parts.broke();
      parts.changed();
    }
    if (closed) return;
    const pause = attempts++ < QUICK_RETRIES ? RETRY_MS : SLOW_RETRY_MS;
    cancelRetry = parts.clock.after(pause, open, { unref: true });
  };

  const open = (): void => {
    if (closed) return;
    const opened = connect({ path: parts.feedSocket });
    socket = opened;
    // Both ends of a line may be cut anywhere; text is short (counters), so a string will do.
    let rest = "";
    opened.setEncoding("utf8");
    opened.on("connect", () => {
      connected = true;
    });
    opened.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const message = parseLine(line);
        if (message !== null && socket === opened) receive(message);
      }
    });
    // `close` follows and does the rest.
    opened.on("error", () => undefined);
    opened.on("close", () => {
      if (socket === opened) lost();
    });
  };

  open();
  return {
    isConnected: () => connected,
    hello: () => hello,
    acknowledged: () => acknowledged,
    counters: () => counters,
    countersSeen: () => countersSeen,
    send,
    succeed(request) {
      const waiting = Promise.withResolvers<number>();
      const { id } = request.settings;
      successors.set(id, waiting);
      if (!send({ type: "succeed", ...request })) {
        successors.delete(id);
        waiting.reject(successorFailed(id, "no connection to the old proxy process"));
      }
      return waiting.promise;
    },
    keep(command) {
      keeping = Promise.withResolvers<number>();
      if (!send({ type: "keep", command })) keeping.reject(successorFailed("spare", "no connection to the proxy"));
      return keeping.promise;
    },
    close() {
      closed = true;
      cancelRetry();
      socket?.destroy();
      rejectAll("owld let go");
    },
  };
}

function successorFailed(id: string, reason: string): OwlError {
  return new OwlError("proxy.successorFailed", `${id} did not come up: ${reason}.`, {
    next: `Look at its log: owlctl logs ${id}. The old proxy process serves on.`,
    data: { id, reason },
  });
}

/** null: not JSON; a newer proxy may also say what we do not know, which `receive` passes over. */
function parseLine(line: string): FromProxy | null {
  try {
    return JSON.parse(line) as FromProxy;
  } catch {
    return null;
  }
}
