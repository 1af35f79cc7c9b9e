// The last lines of instances' logs, for administrators in the browser. Invariants: a name never reaches the disk unless
// it is one of the folder's own files; at most the file's last 256 KiB are read; a folder that is not ours to read is said.

import { open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { homePaths } from "../../../config/home.ts";
import { logQuery, logTail } from "../../core/wire/system.ts";
import type { Routes } from "../deps.ts";

const TAIL_BYTES = 256 * 1024;
const LOG_FILE = /^([a-z][a-z0-9-]*-\d+)\.log$/;

export const adminLogRoutes: Routes = (app, deps) => {
  const dir = homePaths(dirname(deps.config.uploadsDir)).logs;

  app.get(
    "/api/admin/logs",
    {
      schema: {
        summary: "The last lines of an instance's log",
        tags: ["admin"],
        querystring: logQuery,
        response: { 200: logTail },
      },
    },
    async (request) => {
      const count = Math.max(1, Number(request.query.lines ?? 500));
      try {
        const names = (await readdir(dir)).flatMap((name) => LOG_FILE.exec(name)?.[1] ?? []);
        const instances = names.sort((left, right) => left.localeCompare(right, "en", { numeric: true }));
        const instance =
          instances.find((name) => name === (request.query.instance ?? deps.instance)) ?? instances.at(-1);
        const lines = instance === undefined ? [] : await readTail(join(dir, `${instance}.log`), count);
        return { instances, instance: instance ?? null, lines, unreadable: null };
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return { instances: [], instance: null, lines: [], unreadable: code ?? "unknown" };
      }
    },
  );
};

async function readTail(path: string, count: number): Promise<readonly string[]> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const lines = buffer.toString("utf8").split("\n");
    // The first line of a tail is half a line.
    if (size > length) lines.shift();
    if (lines.at(-1) === "") lines.pop();
    return lines.slice(-count);
  } finally {
    await file.close();
  }
}
