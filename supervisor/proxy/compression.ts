// Compresses answers on their way from an upstream to a client; loaded only where proxy.compress says so.
// Invariant: it takes from the upstream what the client takes from it (a slow client pauses the upstream), what an
// upstream sends in pieces goes on in pieces, and whoever ends the answer early ends the encoder.

import type { Transform } from "node:stream";
import { constants, createBrotliCompress, createGzip, createZstdCompress } from "node:zlib";
import { acceptedIn, type Coding, compressedHead } from "./core/compression.ts";
import type { ResponseScan } from "./core/response-head.ts";
import type { MessageParser } from "./engine-net/llhttp.ts";
import type { AnswerTaker, CodedAnswer, UpstreamConnection } from "./engine-net/upstream-connection.ts";
import { NOTHING } from "./engine-net/wire.ts";

/** Answers under compression at a time: each holds up to 2 MiB. Further ones go out as they are. */
const MOST_AT_ONCE = 128;
/** What the encoder looks back over, as a power of two: most answers are smaller. */
const WINDOW_BITS = 18;
const NO_PARTS: readonly number[] = [];

/** The answer's head as it goes on; what follows of it comes to `taker` compressed where that says so. */
export type Compress = (
  taker: AnswerTaker,
  connection: UpstreamConnection | null,
  head: MessageParser,
  scan: ResponseScan,
  requestHead: string,
) => ResponseScan;

export function createCompress(): Compress {
  let underWay = 0;
  return (taker, connection, head, scan, requestHead) => {
    // A request still being sent needs its connection for itself.
    if (connection === null || !connection.requestSent) return scan;
    const answer = { method: taker.method, status: head.status, view: head, scan };
    const coded = compressedHead(answer, () => acceptedIn(requestHead), underWay < MOST_AT_ONCE);
    if (coded.coding !== null) {
      underWay++;
      const encoder = createEncoder(coded.coding, scan.length === null);
      encoder.once("close", () => underWay--);
      connection.codeWith(new Encoding(taker, connection, encoder));
    }
    return coded.scan;
  };
}

/** `isFlushed`: every write comes out at once, whole. */
function createEncoder(coding: Coding, isFlushed: boolean): Transform {
  if (coding === "gzip") return createGzip({ level: 5, ...(isFlushed && { flush: constants.Z_SYNC_FLUSH }) });
  if (coding === "br")
    return createBrotliCompress({
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS },
      ...(isFlushed && { flush: constants.BROTLI_OPERATION_FLUSH }),
    });
  return createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: WINDOW_BITS },
    ...(isFlushed && { flush: constants.ZSTD_e_flush }),
  });
}

/** Between an upstream's connection and the exchange: the connection's taker, and its reader's brake. */
class Encoding implements CodedAnswer {
  readonly method: string;
  readonly #taker: AnswerTaker;
  readonly #encoder: Transform;
  #isBegun = false;
  #isReusable = false;

  constructor(taker: AnswerTaker, connection: UpstreamConnection, encoder: Transform) {
    this.method = taker.method;
    this.#taker = taker;
    this.#encoder = encoder;
    encoder.on("data", (chunk: Buffer) => this.#give(chunk, [0, chunk.length]));
    encoder.on("drain", () => connection.readOn());
    encoder.on("end", () => {
      taker.body(NOTHING, NO_PARTS, true, true, null);
      taker.released(connection, this.#isReusable && connection.isAlive);
      taker.done();
    });
    encoder.on("error", (error) => {
      connection.destroy();
      taker.failed(`its compression failed: ${error.message}`, true, false);
    });
  }

  #give(bytes: Buffer, parts: readonly number[]): void {
    if (!this.#taker.body(bytes, parts, true, false, null)) this.#encoder.pause();
  }

  body(bytes: Buffer, parts: readonly number[], _owned: boolean, done: boolean): boolean {
    const encoder = this.#encoder;
    // Unless all is here, the head does not wait for what becomes of it.
    if (!this.#isBegun && !done) this.#give(NOTHING, NO_PARTS);
    this.#isBegun = true;
    for (let at = 0; at < parts.length; at += 2) encoder.write(Buffer.from(bytes.subarray(parts[at], parts[at + 1])));
    if (done) encoder.end();
    return !encoder.writableNeedDrain;
  }

  resume(): void {
    this.#encoder.resume();
  }

  stop(): void {
    this.#encoder.destroy();
  }

  /** The upstream's part is over; the exchange's is with the encoder's last byte. */
  released(_connection: UpstreamConnection, reusable: boolean): void {
    this.#isReusable = reusable;
  }

  done(): void {}

  failed(detail: string, responseBytes: boolean, malformed: boolean): void {
    this.#taker.failed(detail, responseBytes, malformed);
  }

  /** Heads are over once there is one of these. */
  information(): void {}
  switched(): void {}
  head(): void {}
}
