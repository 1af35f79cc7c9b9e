// Where the checkout is and where its pinned runtime lies. Never through node_modules/.bin, which may not be linked.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { failure, words } from "./say.mjs";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const modules = join(root, "node_modules");

/** The pinned Node of this platform. */
export function pinnedNode() {
  if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) {
    throw failure(words.platform(`${process.platform} ${process.arch}`));
  }
  const node = join(modules, `node-linux-${process.arch}`, "bin", "node");
  if (!existsSync(node)) throw failure(words.noRuntime(node), words.noRuntimeNext);
  return node;
}

/** The environment for what runs under the pinned Node: its own programs first in PATH. */
export function runtimeEnv(extra = {}) {
  const path = [join(modules, `node-linux-${process.arch}`, "bin"), join(modules, ".bin"), process.env.PATH ?? ""].join(
    ":",
  );
  return { ...process.env, PATH: path, ...extra };
}
