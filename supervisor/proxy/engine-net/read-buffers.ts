// Where sockets read into. Invariant: bytes of the shared buffer are copied before the read callback returns;
// an own buffer is given back only when no write refers to it any more.

export const READ_BYTES = 64 * 1024;
/** Bodies above this are read into a buffer of their own, so that they are passed on without being copied. */
export const BULK_BYTES = 16 * 1024;
/** Fewer and larger reads for bulk: what a Unix socket holds comes in one. */
const BULK_READ_BYTES = 256 * 1024;
/** So many at a time; more transfers get smaller ones, so that slow readers of large answers do not fill the memory. */
const MOST_BULK = 64;
/** Clients whose large bodies are read into buffers of their own; those of more clients are copied. */
const MOST_BULK_CLIENTS = 64;
const MOST_SPARE = 32;

/** One for all: small answers, event streams, idle connections. */
export const SHARED_BUFFER: Buffer = Buffer.allocUnsafeSlow(READ_BYTES);

const spare: Buffer[] = [];
let bulk = 0;
let bulkClients = 0;

/** A buffer for one bulk transfer; ends with `dropBuffer`. */
export function takeBuffer(): Buffer {
  if (bulk >= MOST_BULK) return Buffer.allocUnsafeSlow(READ_BYTES);
  bulk++;
  return spare.pop() ?? Buffer.allocUnsafeSlow(BULK_READ_BYTES);
}

/** The transfer is over. `clean`: nothing refers to the buffer; otherwise it is left to the collector. */
export function dropBuffer(buffer: Buffer, clean: boolean): void {
  if (buffer.length < BULK_READ_BYTES) return;
  bulk--;
  if (clean && spare.length < MOST_SPARE) spare.push(buffer);
}

/** Whether one more client may read into buffers of its own; true: ends with `leaveBulk`. */
export function enterBulk(): boolean {
  if (bulkClients >= MOST_BULK_CLIENTS) return false;
  bulkClients++;
  return true;
}

export function leaveBulk(): void {
  bulkClients--;
}

/** bytes[from, to) for later: as they lie when `owned`, else a copy. */
export function kept(bytes: Buffer, from: number, to: number, owned: boolean): Buffer {
  const part = bytes.subarray(from, to);
  return owned ? part : Buffer.from(part);
}

/** Bytes [start, end) as latin1 text: Buffer's own method, which its types leave out and which skips the encoding look-up. */
export function latin1Of(bytes: Buffer, start: number, end: number): string {
  return (bytes as Buffer & { latin1Slice(start: number, end: number): string }).latin1Slice(start, end);
}

/** The same text on its own: one that was cut out of a head would keep the whole head in memory. */
export function detached(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
