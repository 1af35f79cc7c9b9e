// A file without a name: who is handed its descriptor can read it, nobody else can find it, and it ends with the last
// process that holds it. In memory where that can be had, so that a full disk keeps nothing from starting.

import { closeSync, constants, openSync, writeSync } from "node:fs";

/** O_TMPFILE of Linux, which Node does not name. */
const NAMELESS = 0o20000000 | constants.O_DIRECTORY;

/** An open descriptor of a file that holds `text`. `directory`: where it goes without a /dev/shm. */
export function namelessFile(text: string, directory: string): number {
  const fd = openNameless("/dev/shm") ?? openSync(directory, NAMELESS | constants.O_RDWR, 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openNameless(directory: string): number | null {
  try {
    return openSync(directory, NAMELESS | constants.O_RDWR, 0o600);
  } catch {
    return null;
  }
}
