// Prints what logs must survive: bytes that are no UTF-8, a NUL, a line of 5 MB, a last line without its end.

import { writeSync } from "node:fs";

function write(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

write(Buffer.from([0x61, 0xff, 0xfe, 0x62, 0x0a]));
write(Buffer.from("nul\0inside\n"));
write(Buffer.from(`${"x".repeat(5_000_000)}\n`));
write(Buffer.from("no end"));
