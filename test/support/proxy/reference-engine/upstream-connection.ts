// One upstream socket of the reference engine, with the agent that sends requests on it, one after the other.

import { Agent } from "node:http";
import type { Socket } from "node:net";

export interface UpstreamConnection {
  readonly socket: Socket;
  readonly agent: Agent;
  close(): void;
}

/** Wraps a connected socket so that requests go out on it, one after the other. */
export function openConnection(socket: Socket): UpstreamConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1, keepAliveMsecs: 0 });
  let handed = false;
  agent.createConnection = (_options, callback) => {
    if (handed) {
      callback?.(new Error("the connection is closed"), socket);
      return undefined;
    }
    handed = true;
    return socket;
  };
  return {
    socket,
    agent,
    close() {
      agent.destroy();
      socket.destroy();
    },
  };
}
