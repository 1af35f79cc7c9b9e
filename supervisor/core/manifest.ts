// What a release says of itself: manifest.json at its root. Pure: reads text, never a file.
// Invariant: a manifest that parses names only paths inside the release, each once, and only links that stay inside.

import { posix } from "node:path";
import { z } from "zod";
import { JOB_KINDS } from "../../config/config.ts";
import { Refusal } from "./text/refusal.ts";
import type { Text } from "./text/text.ts";

/** The manifest's own format. A higher number is from a later Owl and is refused, never guessed at. */
export const MANIFEST_FORMAT = 1;
export const MANIFEST_FILE = "manifest.json";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "expected a SHA-256 in hexadecimal");

const fileEntry = z.strictObject({
  sha256,
  size: z.int().nonnegative(),
  mode: z.union([z.literal(420), z.literal(493)]),
});

const migrationEntry = z.strictObject({
  name: z.string().regex(/^\d{4}_[a-z0-9_-]+\.sql$/),
  compatible: z.boolean(),
  /** Whether it changes a table that jobs live in: then old and new workers may not overlap. */
  touchesJobs: z.boolean(),
  sha256,
});

const jobKindEntry = z.strictObject({ format: z.int().positive(), argument: sha256 });

const manifestSchema = z.strictObject({
  format: z.literal(MANIFEST_FORMAT),
  version: z.string().regex(/^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/),
  commit: z.string().regex(/^[0-9a-f]{7,64}$/),
  builtAt: z.iso.datetime(),
  platform: z.string().regex(/^[a-z0-9]+-[a-z0-9]+$/),
  nodeVersion: z.string(),
  /** pg-boss's schema number: another number in either direction is an incompatible change. */
  queueSchema: z.int().nonnegative(),
  jobKinds: z.record(z.enum(JOB_KINDS), jobKindEntry),
  migrations: z.array(migrationEntry),
  notes: z.strictObject({ ko: z.array(z.string()), en: z.array(z.string()) }),
  files: z.record(z.string(), fileEntry),
  links: z.record(z.string(), z.string()),
});

export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestMigration = Manifest["migrations"][number];

/** The manifest in `text`. Throws OwlError `release.manifest` with what is wrong and what to do. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse((t) => t.notJson);
  }
  const format = (value as { format?: unknown } | null)?.format;
  if (typeof format === "number" && format > MANIFEST_FORMAT)
    throw new Refusal("release.manifest", (text) => text.refused.release.newerFormat(format, MANIFEST_FORMAT));
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw refuse((t) => t.notManifest(issue?.path.join(".") ?? "", issue?.message));
  }
  for (const path of [...Object.keys(parsed.data.files), ...Object.keys(parsed.data.links)]) {
    const why = badPath(path);
    if (why) throw refuse((t) => t.names(path, t.badPath[why]));
  }
  for (const [path, target] of Object.entries(parsed.data.links)) {
    const why = badLink(path, target);
    if (why) throw refuse((t) => t.manifestLinks(path, target, t.badPath[why]));
    if (path in parsed.data.files) throw refuse((t) => t.fileAndLink(path));
  }
  const through = Object.keys(parsed.data.files).find((path) =>
    parentsOf(path).some((parent) => parent in parsed.data.links),
  );
  if (through !== undefined) throw refuse((t) => t.names(through, t.badPath.behindLink));
  return parsed.data;
}

function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** What is wrong with a path, by its phrase in the catalogues. */
type BadPath = keyof Text["refused"]["release"]["badPath"];

/** Why `path` may not stand in a release, or null: absolute, climbing, empty or doubled parts, control characters. */
export function badPath(path: string): BadPath | null {
  if (path.length === 0 || path.length > 1_000) return "length";
  if (path.startsWith("/")) return "absolute";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here.
  if (/[\u0000-\u001f\\]/.test(path)) return "control";
  if (path.split("/").some((part) => part === "" || part === "." || part === "..")) return "notPlain";
  if (path === MANIFEST_FILE) return "manifest";
  return null;
}

/** Why a link at `path` may not point to `target`, or null when it stays inside the release. */
export function badLink(path: string, target: string): BadPath | null {
  if (target.length === 0 || target.startsWith("/") || target.includes("\0")) return "notRelative";
  const end = posix.normalize(posix.join(posix.dirname(path), target));
  return end === ".." || end.startsWith("../") ? "out" : null;
}

function refuse(what: (text: Text["refused"]["release"]) => string): Refusal {
  return new Refusal("release.manifest", ({ refused: { release } }) => release.noRelease(what(release)));
}
