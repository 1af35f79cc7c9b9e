import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPages } from "../../../services/web/pages/build.ts";
import type { BuildManifest } from "../../../services/web/pages/manifest.ts";
import { servePages } from "../../../services/web/pages/serve.ts";

let dir: string;
let manifest: BuildManifest;
let app: FastifyInstance;

beforeAll(async () => {
  dir = await mkdtemp("/tmp/owl-pages-");
  manifest = await buildPages({ outDir: dir });
  app = fastify();
  servePages(app, { language: "ko", dir });
  for (const path of ["/api/events", "/api/other"]) app.get(path, async () => "");
});

afterAll(async () => {
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

test("the first load is at most 120 KB as brotli, and the pages opened later are not in it", () => {
  const sizes = [...manifest.first, manifest.style].map((name) => manifest.files[name] ?? Number.NaN);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120_000);
  const later = Object.keys(manifest.files).filter((name) => /^(admin|recordings|batches|playbooks)-page-/.test(name));
  expect(later).toHaveLength(4);
  for (const name of later) expect(manifest.first).not.toContain(name);
});

test("the shell holds no inline script or style and asks no other host for anything", async () => {
  const { body, headers, statusCode } = await app.inject("/c/00000000-0000-4000-8000-000000000000");
  expect(statusCode).toBe(200);
  expect(headers["cache-control"]).toBe("no-cache");
  expect(body).not.toMatch(/<style|style=|javascript:|\son\w+=|https?:\/\//);
  for (const script of body.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)) expect(script[1]).toBe("");
  const again = await app.inject({ url: "/", headers: { "if-none-match": String(headers.etag) } });
  expect(again.statusCode).toBe(304);
});

test("a stream tells the build of the pages, the one the shell is of", async () => {
  const { headers } = await app.inject("/api/events?lastEventId=x");
  expect(headers["owl-build"]).toMatch(/^[0-9a-f]{16}$/);
  expect((await app.inject("/")).body).toContain(`<meta name="owl-build" content="${headers["owl-build"]}">`);
  expect((await app.inject("/api/other")).headers).not.toHaveProperty("owl-build");
});

// Names in texts and namespaces: the Markdown parser's error message names its home, SVG has its own.
test("nothing that is built names another host to ask", async () => {
  for (const name of Object.keys(manifest.files)) {
    const text = await readFile(join(dir, "assets", name), "utf8");
    const hosts = [...text.matchAll(/https?:\/\/([a-z0-9.-]+)/gi)].map((match) => match[1]);
    expect(
      hosts.filter((host) => !["www.w3.org", "owl.invalid", "github.com"].includes(host ?? "")),
      name,
    ).toEqual([]);
  }
});

test("hashed files are kept for ever and travel compressed", async () => {
  const answer = await app.inject({ url: `/assets/${manifest.entry}`, headers: { "accept-encoding": "gzip, br" } });
  expect(answer.headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-encoding": "br",
    "content-type": "text/javascript; charset=utf-8",
  });
  expect(brotliDecompressSync(answer.rawPayload).equals(await readFile(join(dir, "assets", manifest.entry)))).toBe(
    true,
  );
  expect((await app.inject(`/assets/${manifest.entry}`)).headers["content-encoding"]).toBeUndefined();
});

test.each([
  "/assets/..%2fmanifest.json",
  "/assets/manifest.json",
  "/assets/none-AAAAAAAA.js",
  "/assets/%2e%2e/package.json",
])("%s is not found", async (url) => {
  expect((await app.inject(url)).statusCode).toBe(404);
});

test("unchanged sources are not built again; a tab of the two builds before still gets its files", async () => {
  const writtenAt = await readFile(join(dir, "manifest.json"), "utf8");
  expect((await buildPages({ outDir: dir })).sources).toBe(manifest.sources);
  expect(await readFile(join(dir, "manifest.json"), "utf8")).toBe(writtenAt);

  const old = "old-page-ABCDEF12.js";
  await writeFile(join(dir, "assets", old), "export default 1;");
  await writeFile(join(dir, "manifest.json"), JSON.stringify({ ...manifest, sources: "one", files: { [old]: 1 } }));
  await buildPages({ outDir: dir });
  expect((await app.inject(`/assets/${old}`)).statusCode).toBe(200);
  await buildPages({ outDir: dir, force: true });
  expect((await readFile(join(dir, "assets", old), "utf8")).length).toBeGreaterThan(0);
  await buildPages({ outDir: dir, force: true });
  await expect(readFile(join(dir, "assets", old))).rejects.toThrow("ENOENT");
});

test("without a build the pages say how to make one", async () => {
  const empty = fastify();
  servePages(empty, { language: "en", dir: join(dir, "nothing") });
  const { statusCode, body } = await empty.inject("/");
  expect(statusCode).toBe(503);
  expect(body).toContain("node services/web/pages/build.ts");
  await empty.close();
});
