// A small file system for the state directory, so that a full disk is that directory's alone. Needs root and mount(8);
// without them the fault is left out, and the report shows that it never happened.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface SmallDisk {
  readonly mounted: boolean;
  mount(dir: string): Promise<void>;
  unmount(dir: string): Promise<void>;
}

export function createSmallDisk(wanted: boolean): SmallDisk {
  let mounted = false;
  return {
    get mounted() {
      return mounted;
    },
    async mount(dir) {
      if (!wanted || process.getuid?.() !== 0) return;
      await run("mount", ["-t", "tmpfs", "-o", "size=24m,mode=0750", "tmpfs", dir]).then(
        () => {
          mounted = true;
        },
        () => undefined,
      );
    },
    async unmount(dir) {
      if (!mounted) return;
      await run("umount", ["--lazy", dir]).catch(() => undefined);
      mounted = false;
    },
  };
}
