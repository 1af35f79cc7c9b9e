// A keep-alive client on one raw socket, strict and cheap: one request at a time, answers with Content-Length or chunked.
// It never sends anything again: what a browser would repeat counts as a failure here.

import { connect, type Socket } from "node:net";
import { readMessage } from "../proxy/messages.ts";

export type Answer = { readonly status: number; readonly body: string } | { readonly failure: string };

const LONGEST_MS = 60_000;

export class Client {
  readonly #port: number;
  #socket: Socket | null = null;
  #text = "";
  #settle: ((answer: Answer) => void) | null = null;

  constructor(port: number) {
    this.#port = port;
  }

  /** Resolves with the answer, or with what went wrong instead. */
  ask(method: "GET" | "POST", path: string, body: string): Promise<Answer> {
    const socket = this.#socket ?? this.#open();
    const length = method === "POST" ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : "";
    return new Promise((resolve) => {
      this.#settle = resolve;
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: rollover\r\n${length}\r\n${body}`);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#socket = socket;
    this.#text = "";
    socket.setTimeout(LONGEST_MS, () => socket.destroy(new Error(`no answer within ${LONGEST_MS} ms`)));
    const over = (why: string) => {
      socket.destroy();
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#finish({ failure: `${why} after ${JSON.stringify(this.#text.slice(0, 80))}` });
    };
    socket.on("error", (error) => over(error.message));
    socket.on("end", () => over("the connection ended"));
    socket.on("close", () => over("the connection was closed"));
    socket.on("data", (chunk) => {
      if (this.#socket !== socket) return;
      this.#text += chunk.toString("latin1");
      const read = readMessage(this.#text, { answer: true });
      if (read === null) return;
      this.#text = read.rest;
      // Said so: the next request opens another one, as any client would.
      if (/\r\nconnection: close\r\n/i.test(read.message.raw)) this.#socket = null;
      this.#finish({ status: Number(read.message.first.split(" ")[1]), body: read.message.body });
    });
    return socket;
  }

  #finish(answer: Answer): void {
    const settle = this.#settle;
    this.#settle = null;
    settle?.(answer);
  }
}
