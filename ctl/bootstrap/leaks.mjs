// Processes of a test run that outlived it: found by the run's own temporary directory in their environment, command
// line or working directory; ended by pid.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const WAIT_MS = 5_000;

/** Those that are still there after a moment's grace, now killed. */
export async function endLeftOver(mark) {
  const end = Date.now() + WAIT_MS;
  let left = marked(mark);
  while (left.length > 0 && Date.now() < end) {
    await sleep(100);
    left = marked(mark);
  }
  for (const { pid } of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone in the meantime.
    }
  }
  return left;
}

function marked(mark) {
  const found = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
    // A zombie has no command line: it is over, only not yet waited for.
    if (command === "") continue;
    if (
      command.includes(mark) ||
      read(`/proc/${pid}/environ`).includes(mark) ||
      link(`/proc/${pid}/cwd`).startsWith(mark)
    ) {
      found.push({ pid, command: command.slice(0, 200) });
    }
  }
  return found;
}

function read(path) {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function link(path) {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
