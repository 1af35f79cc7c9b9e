// Logs as the program named by its first argument does, a line a few milliseconds, and ends with 0 after the last.

import { systemClock } from "../../../config/system-time.ts";
import { createLog as ofServices } from "../../../services/instance.ts";
import { createLog as ofOwld } from "../../../supervisor/observe/log.ts";

const log = process.argv[2] === "owld" ? ofOwld({}) : ofServices("worker-1");
for (let line = 0; line < 20; line++) {
  log.info({ line }, "working");
  await systemClock.sleep(5);
}
process.exit(0);
