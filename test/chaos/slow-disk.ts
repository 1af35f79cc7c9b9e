// A disk of its own for the database (a file, mounted by loop), which can be made slow for the database's processes
// alone: the kernel lets through so many of their writes a second (control group, blkio). Needs root, mkfs.ext4, mount
// and cgroup v1's blkio; without them the fault is left out, and the report shows that it never happened.

import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, rmdir, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const BLKIO = "/sys/fs/cgroup/blkio";
const BYTES = 4 * 2 ** 30;
/** A commit waits for one or two writes, so the database does a handful of commits a second. */
const WRITES_PER_S = 20;

export interface SlowDisk {
  readonly mounted: boolean;
  /** Mounts an empty file system at `dir`; `image` is made anew. */
  mount(image: string, dir: string): Promise<void>;
  slow(pids: readonly number[]): Promise<void>;
  undo(): Promise<void>;
  unmount(dir: string): Promise<void>;
}

export function createSlowDisk(wanted: boolean): SlowDisk {
  let device: string | null = null;
  let group = "";
  const limit = (count: number) =>
    device === null
      ? Promise.resolve()
      : writeFile(join(group, "blkio.throttle.write_iops_device"), `${device} ${count}`).catch(() => undefined);
  return {
    get mounted() {
      return device !== null;
    },
    async mount(image, dir) {
      if (!wanted || process.getuid?.() !== 0) return;
      try {
        await readFile(join(BLKIO, "blkio.throttle.write_iops_device"));
        group = join(BLKIO, `owl-chaos-${process.pid}-${basename(join(dir, ".."))}`);
        await mkdir(dir, { recursive: true });
        await writeFile(image, "");
        await truncate(image, BYTES);
        await run("mkfs.ext4", ["-q", "-F", image]);
        await run("mount", ["-o", "loop", image, dir]);
        await rmdir(join(dir, "lost+found")).catch(() => undefined);
        await chmod(dir, 0o755);
        const found = await run("findmnt", ["-no", "MAJ:MIN", dir]);
        await mkdir(group);
        device = found.stdout.trim();
      } catch {
        await run("umount", [dir]).catch(() => undefined);
      }
    },
    async slow(pids) {
      for (const pid of pids) await writeFile(join(group, "cgroup.procs"), String(pid)).catch(() => undefined);
      await limit(WRITES_PER_S);
    },
    undo: () => limit(0),
    async unmount(dir) {
      if (device === null) return;
      await limit(0);
      await run("umount", ["--lazy", dir]).catch(() => undefined);
      await rmdir(group).catch(() => undefined);
      device = null;
    },
  };
}
