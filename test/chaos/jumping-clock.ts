// A wall clock that can jump, for owld alone: the machine's own is shared with others, so libfaketime (Debian's package)
// is preloaded. owld hands on nothing of it to what it starts, so proxy, web, worker and database keep the true time.
// Without the library the fault is left out, and the report shows that it never happened.

import { existsSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const LIBRARIES = ["x86_64", "aarch64"].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketimeMT.so.1`);

export interface JumpingClock {
  readonly works: boolean;
  /** What `npm start` must find in its environment; the clock is true until the first jump. */
  prepare(home: string): Promise<Readonly<Record<string, string>>>;
  /** So many seconds off the true time from now on; seen within a second. */
  jumpTo(offsetS: number): Promise<void>;
}

export function createJumpingClock(wanted: boolean): JumpingClock {
  const library = wanted ? LIBRARIES.find((path) => existsSync(path)) : undefined;
  let file = "";
  const write = async (offsetS: number) => {
    // Whole or not at all: a half-written offset would be another one.
    await writeFile(`${file}.new`, `${offsetS < 0 ? "" : "+"}${offsetS}`);
    await rename(`${file}.new`, file);
  };
  return {
    works: library !== undefined,
    async prepare(home): Promise<Readonly<Record<string, string>>> {
      if (library === undefined) return {};
      file = join(home, "clock");
      await write(0);
      return {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        FAKETIME_CACHE_DURATION: "1",
      };
    },
    jumpTo: write,
  };
}
