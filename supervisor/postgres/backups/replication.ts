// PostgreSQL's streaming replication protocol: a base backup as the server sends it (tar and manifest), and its log as
// it is written. What pg_basebackup and pg_receivewal speak, so neither program is needed.
// Invariant: a slower reader slows the server's sending down, nothing is held without bound.

import type { Socket } from "node:net";
import { Client, escapeIdentifier, escapeLiteral, type Submittable } from "pg";
import { OwlError } from "../../../config/errors.ts";
import { formatLsn, type Lsn, parseLsn } from "./core/wal.ts";

const HOLD_BYTES = 8 * 2 ** 20;
/** What the server counts times from: 2000-01-01. */
const EPOCH_MS = 946_684_800_000;

/** What pg's connection has and its types do not tell. */
interface Wire {
  readonly stream: Socket;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
}

export interface ServerPosition {
  readonly systemId: string;
  readonly timeline: number;
  readonly segmentBytes: bigint;
}

export type BasePart = { readonly kind: "archive" | "manifest" } | { readonly kind: "data"; readonly bytes: Buffer };

interface BaseBackup {
  /** In the order the server sends them; to be read to their end. */
  readonly parts: AsyncIterable<BasePart>;
  /** Once the parts are read. */
  span(): { readonly start: Lsn; readonly end: Lsn; readonly timeline: number };
}

interface LogStream {
  /** Bytes of the log and where they begin, without a gap. */
  readonly chunks: AsyncIterable<{ readonly at: Lsn; readonly bytes: Buffer }>;
  /** All before it is safe: the server may let go of it. */
  confirm(lsn: Lsn, nowMs: number): void;
}

export interface Replication {
  position(): Promise<ServerPosition>;
  /** Makes the slot when it is not there; answers from where on the log is kept. null: it was lost and is made anew. */
  slot(name: string): Promise<Lsn>;
  baseBackup(label: string, options: { readonly fast: boolean; readonly bytesPerS: number }): BaseBackup;
  stream(slot: string, from: Lsn, timeline: number): LogStream;
  end(): Promise<void>;
}

export async function openReplication(adminUrl: string): Promise<Replication> {
  const options = { connectionString: adminUrl, application_name: "owl/backup", replication: "true" };
  const client = new Client(options);
  client.on("error", () => undefined);
  await client.connect();

  async function one(text: string): Promise<Record<string, string>> {
    const { rows } = await client.query<Record<string, string>>(text);
    return rows[0] ?? {};
  }

  return {
    async position() {
      const { systemid = "", timeline = "0" } = await one("IDENTIFY_SYSTEM");
      const { wal_segment_size = "" } = await one("SHOW wal_segment_size");
      return { systemId: systemid, timeline: Number(timeline), segmentBytes: sizeOf(wal_segment_size) };
    },
    async slot(name) {
      const found = await one(`READ_REPLICATION_SLOT ${escapeIdentifier(name)}`);
      if (found.slot_type && found.restart_lsn) return parseLsn(found.restart_lsn);
      if (found.slot_type) await client.query(`DROP_REPLICATION_SLOT ${escapeIdentifier(name)}`);
      await client.query(`CREATE_REPLICATION_SLOT ${escapeIdentifier(name)} PHYSICAL RESERVE_WAL`);
      return parseLsn((await one(`READ_REPLICATION_SLOT ${escapeIdentifier(name)}`)).restart_lsn ?? "");
    },
    baseBackup(label, { fast, bytesPerS }) {
      const copy = new Copy(
        `BASE_BACKUP (LABEL ${escapeLiteral(label)}, CHECKPOINT '${fast ? "fast" : "spread"}', WAL false, WAIT false,
           MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256', MAX_RATE ${kilobytes(bytesPerS)})`,
      );
      client.query(copy);
      return {
        parts: baseParts(copy),
        span() {
          const [first, last] = [copy.rows[0], copy.rows.at(-1)];
          return { start: parseLsn(first?.[0] ?? ""), end: parseLsn(last?.[0] ?? ""), timeline: Number(first?.[1]) };
        },
      };
    },
    stream(slot, from, timeline) {
      const name = escapeIdentifier(slot);
      const copy = new Copy(`START_REPLICATION SLOT ${name} PHYSICAL ${formatLsn(from)} TIMELINE ${timeline}`);
      client.query(copy);
      return { chunks: logChunks(copy), confirm: (lsn, nowMs) => copy.send(standbyStatus(lsn, nowMs)) };
    },
    end: () => client.end().catch(() => undefined),
  };
}

/** One command whose answer is a copy, as an iterable of its messages. */
class Copy implements Submittable {
  readonly rows: (readonly (string | null)[])[] = [];
  readonly #text: string;
  #wire: Wire | null = null;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #ended = false;
  #error: Error | null = null;
  #wake: () => void = () => undefined;

  constructor(text: string) {
    this.#text = text;
  }

  submit(connection: unknown): void {
    this.#wire = connection as Wire;
    this.#wire.query(this.#text);
  }

  send(chunk: Buffer): void {
    if (!this.#ended) this.#wire?.sendCopyFromChunk(chunk);
  }

  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void {
    this.rows.push(message.fields);
  }
  handleCopyData(message: { readonly chunk: Buffer }): void {
    // The parser uses its buffer again.
    this.#held.push(Buffer.from(message.chunk));
    this.#heldBytes += message.chunk.length;
    if (this.#heldBytes > HOLD_BYTES) this.#wire?.stream.pause();
    this.#wake();
  }
  handleReadyForQuery(): void {
    this.#finish(null);
  }
  handleError(error: Error): void {
    this.#finish(error);
  }

  #finish(error: Error | null): void {
    this.#ended = true;
    this.#error ??= error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = this.#held.shift();
      if (chunk !== undefined) {
        this.#heldBytes -= chunk.length;
        if (this.#heldBytes <= HOLD_BYTES / 2) this.#wire?.stream.resume();
        yield chunk;
      } else if (this.#error !== null) throw this.#error;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

async function* baseParts(copy: Copy): AsyncGenerator<BasePart> {
  for await (const message of copy) {
    const kind = String.fromCharCode(message[0] ?? 0);
    if (kind === "n") yield { kind: "archive" };
    else if (kind === "m") yield { kind: "manifest" };
    else if (kind === "d") yield { kind: "data", bytes: message.subarray(1) };
  }
}

async function* logChunks(copy: Copy): AsyncGenerator<{ at: Lsn; bytes: Buffer }> {
  for await (const message of copy) {
    // A keepalive (`k`) wants an answer in time; the confirmation every few seconds is one.
    if (message[0] === 0x77) yield { at: message.readBigUInt64BE(1), bytes: message.subarray(25) };
  }
}

function standbyStatus(lsn: Lsn, nowMs: number): Buffer {
  const status = Buffer.alloc(34);
  status.write("r");
  for (const at of [1, 9, 17]) status.writeBigUInt64BE(lsn, at);
  status.writeBigInt64BE(BigInt(Math.round((nowMs - EPOCH_MS) * 1_000)), 25);
  return status;
}

/** `16MB`, as the server shows it. */
function sizeOf(text: string): bigint {
  const [, number, unit] = /^(\d+)(MB|GB)$/.exec(text) ?? [];
  if (number === undefined)
    throw new OwlError("backup.server", `The server's wal_segment_size ${text} is not understood.`);
  return BigInt(number) * (unit === "GB" ? 2n ** 30n : 2n ** 20n);
}

/** MAX_RATE takes 32 kB/s to 1 GB/s; 0: no bound. */
function kilobytes(bytesPerS: number): number {
  return bytesPerS === 0 ? 1_048_576 : Math.min(1_048_576, Math.max(32, Math.round(bytesPerS / 1024)));
}
