// Where a WebSocket frame ends in a byte stream that is passed on unread, so that a close frame of ours
// is never written into the middle of another one. Pure: bytes in, position out.

/** Follows one direction of a tunnel. */
export class FrameTracker {
  /** Header bytes of the frame under way, as far as seen. */
  readonly #header: number[] = [];
  #payloadLeft = 0;

  /** True when the bytes seen so far end exactly at a frame's end. */
  get atBoundary(): boolean {
    return this.#payloadLeft === 0 && this.#header.length === 0;
  }

  /** Takes the next bytes; returns how many of them belong to frames that are complete or the one under way. */
  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const step = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= step;
        at += step;
        continue;
      }
      this.#header.push(chunk[at] ?? 0);
      at++;
      const needed = headerLength(this.#header);
      if (needed !== null && this.#header.length === needed) {
        this.#payloadLeft = payloadLength(this.#header);
        this.#header.length = 0;
      }
    }
  }

  /** Bytes of `chunk` up to the end of the frame under way, or -1 when it does not end in there. */
  endsWithin(chunk: Uint8Array): number {
    for (let at = 0; at < chunk.length; at++) {
      this.push(chunk.subarray(at, at + 1));
      if (this.atBoundary) return at + 1;
    }
    return -1;
  }
}

/** A close frame. `masked` for the direction client to server (an all-zero mask is a mask). */
export function closeFrame(code: number, masked: boolean): Uint8Array {
  const payload = [code >> 8, code & 0xff];
  return Uint8Array.from(masked ? [0x88, 0x82, 0, 0, 0, 0, ...payload] : [0x88, 0x02, ...payload]);
}

/** "Service restart": the client may come back at once, to another instance. */
export const SERVICE_RESTART = 1012;

function headerLength(header: readonly number[]): number | null {
  const second = header[1];
  if (second === undefined) return null;
  const size = second & 0x7f;
  return 2 + (size === 126 ? 2 : size === 127 ? 8 : 0) + ((second & 0x80) !== 0 ? 4 : 0);
}

function payloadLength(header: readonly number[]): number {
  const size = (header[1] ?? 0) & 0x7f;
  if (size < 126) return size;
  let length = 0;
  for (let at = 2; at < (size === 126 ? 4 : 10); at++) length = length * 256 + (header[at] ?? 0);
  return length;
}
