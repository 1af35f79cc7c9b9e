// How the configuration of a bundled process, with its secrets, comes from owld: through a descriptor of a file without a
// name, read once and closed. An environment could be read by whatever runs as the same user, as long as the process
// lives. A release that has this file is handed it so; an older one, and a container without owld, by the environment.

import { closeSync, existsSync, fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { INSTANCE_ENV } from "./instance-env.ts";

/** Whether the code at `root` takes its configuration from a descriptor. */
export function takesDescriptor(root: string): boolean {
  return existsSync(join(root, "config", "handed-config.ts"));
}

/** The text that was handed over, gone from `env` and closed behind it; undefined: none was. */
export function takeHanded(env: NodeJS.ProcessEnv): string | undefined {
  const { [INSTANCE_ENV.app]: text, [INSTANCE_ENV.appDescriptor]: descriptor } = env;
  delete env[INSTANCE_ENV.app];
  delete env[INSTANCE_ENV.appDescriptor];
  if (descriptor === undefined) return text;
  const fd = Number(descriptor);
  try {
    // From its beginning: whoever wrote it shares the position.
    const bytes = Buffer.alloc(fstatSync(fd).size);
    let at = 0;
    while (at < bytes.length) {
      const count = readSync(fd, bytes, at, bytes.length - at, at);
      if (count === 0) break;
      at += count;
    }
    return bytes.toString("utf8", 0, at);
  } finally {
    closeSync(fd);
  }
}
