// `npm run release [-- --output FILE] [--gzip] [--version V] [--sign KEYFILE]`: builds the archive of this checkout, and a
// Debian package of it where dpkg-deb is, and says where they lie. `npm run release -- --keygen KEYFILE`: makes the key that signs it.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { asError, OwlError } from "../../config/errors.ts";
import { buildRelease } from "./build.ts";
import { buildDeb, hasDpkg } from "./deb.ts";
import { KEY_FILE, makeKey, signArchive, signatureFile } from "./signature.ts";

const OPTIONS = {
  output: { type: "string" },
  gzip: { type: "boolean" },
  version: { type: "string" },
  dirty: { type: "boolean" },
  sign: { type: "string" },
  keygen: { type: "string" },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const git = (...args: string[]): string => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();

const say = (message: string): void => void process.stderr.write(`release: ${message}\n`);

/** The secret key goes to a file nobody else can read, the public one into the checkout, to travel in every release. */
function keygen(keyFile: string): void {
  const key = makeKey();
  writeFileSync(keyFile, key.secret, { flag: "wx", mode: 0o600 });
  const known = join(root, KEY_FILE);
  const isFirst = !existsSync(known);
  const target = isFirst ? known : `${keyFile}.pub`;
  writeFileSync(target, key.public, { flag: "wx", mode: 0o644 });
  say(`the secret key is in ${keyFile}: keep it, and keep it to yourself`);
  say(
    isFirst
      ? `the public key is in ${target}: commit it. What carries it takes only releases signed by this key`
      : `the public key is in ${target}: to change keys, put it into ${KEY_FILE}, sign that release with the old key and the next with this one`,
  );
}

async function signed(archive: string, keyFile: string, remark: string): Promise<void> {
  const text = await signArchive(archive, keyFile, remark);
  writeFileSync(signatureFile(archive), text, { mode: 0o644 });
  say(`signed: ${signatureFile(archive)}`);
}

async function build(values: Values): Promise<void> {
  const own = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
  const version = values.version ?? own;
  if (git("status", "--porcelain", "--untracked-files=no") !== "" && !values.dirty)
    throw new OwlError(
      "release.dirty",
      "There are uncommitted changes, so the release would not be what its commit says.",
      {
        next: "Commit them, or build it for yourself with `npm run release -- --dirty`.",
      },
    );
  const suffix = values.gzip ? "tar.gz" : "tar.zst";
  const output =
    values.output ?? join(root, ".release", `owl-${version}-${process.platform}-${process.arch}.${suffix}`);
  const commit = git("rev-parse", "HEAD");
  // A signature of what lay there before is none of this archive.
  rmSync(signatureFile(output), { force: true });
  const manifest = await buildRelease({
    root,
    output,
    version,
    compression: values.gzip ? "gzip" : "zstd",
    commit,
    builtAt: new Date(Number(git("log", "-1", "--format=%ct")) * 1_000).toISOString(),
    say,
  });
  say(`${Object.keys(manifest.files).length} files, version ${manifest.version}`);
  if (values.sign !== undefined) await signed(output, values.sign, `owl ${version} ${manifest.platform} ${commit}`);
  process.stdout.write(`${output}\n`);
  if (await hasDpkg()) {
    say("making the Debian package");
    process.stdout.write(`${await buildDeb(output)}\n`);
  } else say("there is no dpkg-deb here, so no Debian package is made");
}

try {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.keygen !== undefined) keygen(values.keygen);
  else await build(values);
} catch (caught) {
  const error = asError(caught);
  process.stderr.write(`${error.message}\n${error instanceof OwlError && error.next ? `${error.next}\n` : ""}`);
  process.exitCode = 1;
}
