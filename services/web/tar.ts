// A tar file as it goes along: nothing is held but the piece under way. Invariant: an entry has exactly the bytes
// its header says, also when the file behind it is shorter by then: the rest is zeros.

interface TarEntry {
  /** ASCII, at most 100 characters. */
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const BLOCK = 512;

/** The pieces of a tar file of `entries`. */
export async function* tarOf(entries: AsyncIterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for await (const { name, bytes, modifiedAt, content } of entries) {
    yield headerOf(name, bytes, modifiedAt);
    let left = bytes;
    for await (const piece of content) {
      const part = piece.subarray(0, left);
      left -= part.length;
      yield part;
      if (left === 0) break;
    }
    for (; left > 0; left -= Math.min(left, BLOCK)) yield new Uint8Array(Math.min(left, BLOCK));
    if (bytes % BLOCK > 0) yield new Uint8Array(BLOCK - (bytes % BLOCK));
  }
  yield new Uint8Array(2 * BLOCK);
}

function headerOf(name: string, bytes: number, modifiedAt: Date): Uint8Array {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => `${Math.floor(value).toString(8).padStart(digits, "0")}\0`;
  header.write(name.slice(0, 100), 0, "ascii");
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  // Eleven octal digits hold 8 GiB; a larger size is told in binary, marked by the first bit (GNU, and everybody since).
  if (bytes < 8 ** 11) header.write(octal(bytes, 11), 124);
  else {
    header.writeUInt8(0x80, 124);
    header.writeBigUInt64BE(BigInt(bytes), 128);
  }
  header.write(octal(modifiedAt.getTime() / 1_000, 11), 136);
  header.write("        0", 148);
  header.write("ustar\x0000", 257);
  header.write(
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    ),
    148,
  );
  header.write(" ", 155);
  return header;
}
