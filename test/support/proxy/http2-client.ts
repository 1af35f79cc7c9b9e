// Clients of HTTP/2: Node's own for what a browser does, and one of hand-made frames for what none does.

import {
  type ClientHttp2Session,
  connect as connectHttp2,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly trailers: IncomingHttpHeaders;
  readonly information: readonly number[];
  /** What the stream was reset with; 0: it was not. */
  readonly code: number;
}

export function openSession(port: number): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, ALPNProtocols: ["h2"] });
  session.on("error", () => undefined);
  return session;
}

/** One request to its end; a stream that was reset is an answer too. */
export function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: { readonly parts: readonly (string | Buffer)[]; readonly trailers?: OutgoingHttpHeaders },
): Promise<Answer> {
  return new Promise((resolve) => {
    const stream = session.request(headers, {
      endStream: body === undefined,
      waitForTrailers: body?.trailers !== undefined,
    });
    let answer: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    let text = "";
    const information: number[] = [];
    stream.on("headers", (early) => information.push(Number(early[":status"])));
    stream.on("response", (head) => {
      answer = head;
    });
    stream.on("trailers", (last) => {
      trailers = last;
    });
    stream.on("wantTrailers", () => stream.sendTrailers(body?.trailers ?? {}));
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    stream.on("error", () => undefined);
    stream.on("close", () =>
      resolve({
        status: Number(answer[":status"] ?? 0),
        headers: answer,
        body: text,
        trailers,
        information,
        code: stream.rstCode ?? 0,
      }),
    );
    if (body === undefined) return;
    for (const part of body.parts) stream.write(part);
    stream.end();
  });
}

export const FRAME = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4 } as const;

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A header list as HPACK writes it without tables: each name and value as it is. */
export function headerBlock(list: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(list.flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]));
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const length: number[] = [];
  if (bytes.length < 127) length.push(bytes.length);
  else {
    length.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

export function requestBlock(more: readonly (readonly [string, string])[] = [], path = "/", method = "GET"): Buffer {
  return headerBlock([[":method", method], [":scheme", "https"], [":authority", "x"], [":path", path], ...more]);
}

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Sends what it is told, acknowledges nothing, keeps every frame that comes. */
export class FrameClient {
  readonly socket: TLSSocket;
  readonly frames: Frame[] = [];
  ended = false;
  #rest = Buffer.alloc(0);
  #wake: (() => void)[] = [];

  /** Opens with the preface and empty settings, or those given. */
  constructor(port: number, settings: Buffer = Buffer.alloc(0)) {
    this.socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false, ALPNProtocols: ["h2"] });
    this.socket.on("data", (chunk: Buffer) => {
      this.#rest = Buffer.concat([this.#rest, chunk]);
      while (this.#rest.length >= 9 && this.#rest.length >= 9 + this.#rest.readUIntBE(0, 3)) {
        const end = 9 + this.#rest.readUIntBE(0, 3);
        const payload = this.#rest.subarray(9, end);
        const stream = this.#rest.readUInt32BE(5) & 0x7fffffff;
        this.frames.push({ type: this.#rest[3] ?? 0, flags: this.#rest[4] ?? 0, stream, payload });
        this.#rest = this.#rest.subarray(end);
      }
      this.#tell();
    });
    for (const event of ["end", "close", "error"])
      this.socket.on(event, () => {
        this.ended = true;
        this.#tell();
      });
    this.send(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(FRAME.settings, 0, 0, settings));
  }

  send(...frames: readonly Buffer[]): this {
    this.socket.write(Buffer.concat(frames));
    return this;
  }

  /** The first frame of that type (and stream) that comes, or came; null: the connection ended before. */
  async next(type: number, stream?: number): Promise<Frame | null> {
    for (;;) {
      const found = this.frames.find((one) => one.type === type && (stream === undefined || one.stream === stream));
      if (found !== undefined) return found;
      if (this.ended) return null;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Error code of the last GOAWAY once the connection is closed; null: there was none. */
  async farewell(): Promise<number | null> {
    while (!this.ended) await new Promise<void>((resolve) => this.#wake.push(resolve));
    const last = this.frames.findLast(({ type }) => type === FRAME.goaway);
    return last === undefined ? null : last.payload.readUInt32BE(4);
  }

  #tell(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
