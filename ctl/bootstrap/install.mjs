// Installs exactly what the lock file says, and only when that is not what lies in node_modules already.
// Invariant: after a successful `npm ci` (ours or a person's) nothing here needs the network.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { modules, root } from "./paths.mjs";
import { failure, say, words } from "./say.mjs";

const stamp = join(modules, ".owl-installed");

/** Resolves when node_modules holds what package-lock.json names. */
export async function ensureInstalled() {
  const lock = readFileSync(join(root, "package-lock.json"));
  const wanted = createHash("sha256").update(lock).digest("hex");
  if (readStamp() === wanted && existsSync(join(modules, ".package-lock.json"))) return;
  if (!matches(JSON.parse(lock.toString("utf8")))) await install();
  try {
    writeFileSync(stamp, `${wanted}\n`);
  } catch {
    // A checkout of somebody else: it is compared again at each start, which takes a few milliseconds.
  }
}

function readStamp() {
  try {
    return readFileSync(stamp, "utf8").trim();
  } catch {
    return null;
  }
}

/** Whether what npm installed (its own record) is what the lock file wants; optional packages may be absent. */
function matches(lock) {
  let installed;
  try {
    installed = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")).packages;
  } catch {
    return false;
  }
  return Object.entries(lock.packages).every(([path, entry]) => {
    if (path === "" || entry.link) return true;
    const found = installed[path];
    if (found === undefined) return entry.optional === true && !isOurPlatform(entry);
    return found.version === entry.version;
  });
}

/** Only a package made for exactly this platform must be there: the others come and go with what needs them. */
function isOurPlatform(entry) {
  const names = (list, value) => list?.includes(value);
  return names(entry.os, process.platform) && names(entry.cpu, process.arch) && entry.libc === undefined;
}

async function install() {
  say.progress(words.installing);
  const started = process.hrtime.bigint();
  const npm = process.env.npm_execpath;
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  // `npm start` exports its own settings to us (npm_config_*); the inner npm must not inherit a --prefix or the like.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(config_(prefix|global|local_prefix)|package_|lifecycle_)/.test(name),
    ),
  );
  const [command, first] = npm?.endsWith(".js") ? [process.execPath, [npm]] : ["npm", []];
  const code = await new Promise((resolve, reject) => {
    // Its output is progress: standard output stays free for results.
    const child = spawn(command, [...first, ...args], { cwd: root, stdio: ["ignore", 2, 2], env });
    child.once("error", reject);
    child.once("exit", (exit, signal) => resolve(exit ?? `signal ${signal}`));
  });
  if (code !== 0) throw failure(`${words.installFailed} (${code})`, words.installNext);
  say.progress(words.installed((Number(process.hrtime.bigint() - started) / 1e9).toFixed(1)));
}
