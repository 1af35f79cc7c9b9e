// The child process that reads one document: bytes in, one line of JSON out. It is given nothing else, and is killed by
// whoever started it when it takes too long or too much.

import { buffer } from "node:stream/consumers";
import { readDocument } from "./read.ts";

try {
  const read = await readDocument(new Uint8Array(await buffer(process.stdin)));
  process.stdout.write(JSON.stringify(read));
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
