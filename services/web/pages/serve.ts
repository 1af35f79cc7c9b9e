// Serves the pages: one HTML shell for every page address, hashed files for ever.
// Invariants: no path of the client reaches the disk (names are matched, then looked up); no inline script or style;
// files of earlier builds, here and in the releases kept beside this one, are still served to tabs opened before.

import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Language } from "../../../config/language.ts";
import type { SignInWays } from "../../core/sign-in.ts";
import { BUILD_HEADER } from "./build-header.ts";
import { type BuildManifest, buildId, readManifest } from "./manifest.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const FILE_NAME = /^[A-Za-z0-9_.-]+-[A-Z0-9]{8}\.(?:js|css|svg)$/;
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
/** Addresses of pages; the browser's own router shows the right one (pages/routes.ts names the same). */
const PAGES = [
  "/",
  "/c/:id",
  "/shared",
  "/recordings",
  "/recordings/:id",
  "/batches",
  "/batches/:id",
  "/playbooks",
  "/playbooks/:id",
  "/playbook-runs/:id",
  "/assistants",
  "/assistants/:id",
  "/prompts",
  "/prompts/:id",
  "/schedules",
  "/schedules/:id",
  "/schemas",
  "/schemas/:id",
  "/admin",
  "/admin/:section",
];

interface PagesOptions {
  readonly language: Language;
  /** What the sign-in page offers; none: a name and a password. */
  readonly signIn?: SignInWays | null;
  /** Where the pages were built; default `.build/pages` of this checkout or release. */
  readonly dir?: string;
}

interface Built {
  readonly manifest: BuildManifest;
  readonly shell: string;
  readonly changedAtMs: number;
}

/** Adds the pages' routes to `app`. A missing build answers 503 with the command that makes it. */
export function servePages(app: FastifyInstance, options: PagesOptions): void {
  const dir = options.dir ?? join(ROOT, ".build/pages");
  const ways = !options.signIn
    ? ""
    : `-${createHash("sha256").update(JSON.stringify(options.signIn)).digest("hex").slice(0, 8)}`;
  let built: Built | null = null;
  const files = new Map<string, Buffer>();

  /** The newest build: read again when its manifest was replaced (a build while we run). */
  async function current(): Promise<Built | null> {
    const changedAtMs = await stat(join(dir, "manifest.json")).then(
      (found) => found.mtimeMs,
      () => 0,
    );
    if (built && built.changedAtMs === changedAtMs) return built;
    const manifest = await readManifest(dir);
    if (!manifest) return built;
    built = { manifest, shell: shellOf(manifest, options), changedAtMs };
    return built;
  }

  async function find(name: string, suffix: string): Promise<Buffer | null> {
    const key = `${name}${suffix}`;
    const known = files.get(key);
    if (known) return known;
    for (const place of [dir, ...(await siblingBuilds())]) {
      const content = await readFile(join(place, "assets", key)).catch(() => null);
      if (!content) continue;
      files.set(key, content);
      return content;
    }
    return null;
  }

  async function sendShell(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const found = await current();
    reply.header("cache-control", "no-cache");
    if (!found) {
      return reply
        .code(503)
        .type("text/plain; charset=utf-8")
        .send("The pages are not built yet. Build them: node services/web/pages/build.ts\n");
    }
    const tag = `"${buildId(found.manifest)}${ways}"`;
    reply.header("etag", tag).type("text/html; charset=utf-8");
    if (request.headers["if-none-match"] === tag) return reply.code(304).send();
    return reply.send(found.shell);
  }

  // With each new stream, and so after each replacement of a web instance, an open page learns whom it talks to.
  // From memory: no stream waits for a disk.
  app.addHook("onReady", async () => void (await current()));
  app.addHook("onRequest", (request, reply, done) => {
    if (built && request.routeOptions.url === "/api/events") reply.header(BUILD_HEADER, buildId(built.manifest));
    done();
  });

  const config = { access: "public" } as const;
  for (const url of PAGES) app.get(url, { config, schema: { hide: true } }, sendShell);

  app.get<{ Params: { name: string } }>("/assets/:name", { config, schema: { hide: true } }, async (request, reply) => {
    const { name } = request.params;
    if (!FILE_NAME.test(name)) return reply.callNotFound();
    const accepted = String(request.headers["accept-encoding"] ?? "");
    const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : null;
    const packed = encoding ? await find(name, encoding === "br" ? ".br" : ".gz") : null;
    const content = packed ?? (await find(name, ""));
    if (!content) return reply.callNotFound();
    if (packed && encoding) reply.header("content-encoding", encoding);
    return reply
      .header("cache-control", "public, max-age=31536000, immutable")
      .header("vary", "accept-encoding")
      .type(TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream")
      .send(content);
  });

  app.get("/icon.svg", { config, schema: { hide: true } }, (_request, reply) =>
    reply.header("cache-control", "public, max-age=86400").type("image/svg+xml").send(ICON),
  );
}

/** Builds of the releases kept beside ours (`releases/VERSION/.build/pages`); none in a checkout. */
async function siblingBuilds(): Promise<readonly string[]> {
  const releases = dirname(ROOT);
  if (basename(releases) !== "releases") return [];
  const names = await readdir(releases).catch(() => []);
  return names.map((name) => join(releases, name, ".build/pages"));
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f5d50"/><g fill="none" stroke="#f6f3ea" stroke-width="2.4"><circle cx="10.5" cy="14" r="5"/><circle cx="21.5" cy="14" r="5"/></g><circle cx="10.5" cy="14" r="1.8" fill="#f6f3ea"/><circle cx="21.5" cy="14" r="1.8" fill="#f6f3ea"/><path d="M14 19.5h4l-2 4z" fill="#e9b44c"/></svg>`;

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

function shellOf(manifest: BuildManifest, { language, signIn }: PagesOptions): string {
  const preloads = manifest.first
    .filter((name) => name !== manifest.entry)
    .map((name) => `<link rel="modulepreload" href="/assets/${name}">`)
    .join("");
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="owl-build" content="${buildId(manifest)}">
<meta name="owl-worker" content="/assets/${manifest.worker}">
${!signIn ? "" : `<meta name="owl-sign-in" content="${escaped(JSON.stringify(signIn))}">\n`}<title>Owl</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/${manifest.style}">
${preloads}<script type="module" src="/assets/${manifest.entry}"></script>
</head>
<body><div id="app"></div><noscript>Owl needs JavaScript.</noscript></body>
</html>
`;
}
