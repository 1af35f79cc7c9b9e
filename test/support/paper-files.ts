// A disk of paper for files: every call is noted, and any prefix of the calls is what a power cut may leave. Unless the
// file or its directory was synced, the cut takes the content, or the name, with it.

import { basename, dirname } from "node:path";
import type { Disk } from "../../supervisor/postgres/backups/disk.ts";

type Act =
  | { readonly do: "write"; readonly file: number; readonly bytes: Buffer }
  | { readonly do: "syncFile"; readonly file: number }
  | { readonly do: "link"; readonly path: string; readonly file: number }
  | { readonly do: "rename"; readonly from: string; readonly to: string }
  | { readonly do: "syncDirectory" | "syncTree" | "remove"; readonly path: string };

export interface PaperFiles {
  readonly disk: Disk;
  readonly acts: readonly Act[];
  /** What a cut after the first `count` acts may leave at worst: names that were synced, with what was synced of them. */
  worstAfter(count: number): ReadonlyMap<string, string>;
  /** What it may leave at best of names, at worst of contents: renames reach the disk by themselves, contents do not. */
  namesAfter(count: number): ReadonlyMap<string, string>;
  /** As `namesAfter`, each time with one name that was removed and whose removal was not synced. */
  returnedAfter(count: number): Iterable<ReadonlyMap<string, string>>;
}

/** `real`: where all of it happens too. Contents are told as latin1: a character a byte. */
export function createPaperFiles(real?: Disk): PaperFiles {
  const acts: Act[] = [];
  let files = 0;

  function replay(count: number, keepsNames: boolean, gone = new Map<string, string>()): ReadonlyMap<string, string> {
    const written = new Map<number, string>();
    const safe = new Map<number, string>();
    const names = new Map<string, number>();
    const safeNames = new Map<string, number>();
    for (const act of acts.slice(0, count)) {
      if (act.do === "write") written.set(act.file, (written.get(act.file) ?? "") + act.bytes.toString("latin1"));
      else if (act.do === "syncFile") safe.set(act.file, written.get(act.file) ?? "");
      else if (act.do === "link") names.set(act.path, act.file);
      else if (act.do === "rename") {
        const file = names.get(act.from);
        names.delete(act.from);
        if (file !== undefined) names.set(act.to, file);
      } else if (act.do === "remove") {
        for (const path of [...names.keys()])
          if (path === act.path || path.startsWith(`${act.path}/`)) {
            gone.set(path, safe.get(names.get(path) ?? -1) ?? "");
            names.delete(path);
          }
      } else if (act.do === "syncTree") {
        for (const path of [...gone.keys()]) if (path.startsWith(`${act.path}/`)) gone.delete(path);
        for (const path of [...safeNames.keys()]) if (path.startsWith(`${act.path}/`)) safeNames.delete(path);
        for (const [path, file] of names)
          if (path.startsWith(`${act.path}/`)) {
            safeNames.set(path, file);
            safe.set(file, written.get(file) ?? "");
          }
      } else {
        for (const path of gone.keys()) if (dirname(path) === act.path) gone.delete(path);
        for (const path of [...safeNames.keys()]) if (dirname(path) === act.path) safeNames.delete(path);
        for (const [path, file] of names) if (dirname(path) === act.path) safeNames.set(path, file);
      }
    }
    const left = keepsNames ? names : safeNames;
    const whole = [...left].filter(([path]) => !basename(path).startsWith(".new-"));
    return new Map(whole.map(([path, file]) => [path, safe.get(file) ?? ""]));
  }

  return {
    acts,
    worstAfter: (count) => replay(count, false),
    namesAfter: (count) => replay(count, true),
    *returnedAfter(count) {
      const gone = new Map<string, string>();
      const names = replay(count, true, gone);
      for (const [path, text] of gone) if (!basename(path).startsWith(".new-")) yield new Map([...names, [path, text]]);
    },
    disk: {
      async create(path) {
        const file = files++;
        acts.push({ do: "link", path, file });
        const handle = await real?.create(path);
        return {
          async write(chunk) {
            acts.push({ do: "write", file, bytes: Buffer.from(chunk) });
            await handle?.write(chunk);
          },
          async sync() {
            acts.push({ do: "syncFile", file });
          },
          close: async () => await handle?.close(),
        };
      },
      async rename(from, to) {
        acts.push({ do: "rename", from, to });
        await real?.rename(from, to);
      },
      async syncDirectory(path) {
        acts.push({ do: "syncDirectory", path });
      },
      async syncTree(path) {
        acts.push({ do: "syncTree", path });
      },
      makeDirectory: async (path) => await real?.makeDirectory(path),
      async remove(path) {
        acts.push({ do: "remove", path });
        await real?.remove(path);
      },
    },
  };
}
