// Directories served by the proxy itself: over a real proxy, with clients that ask in every way.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { onRequests } from "../../support/proxy/messages.ts";
import { type Rig, startRig } from "../../support/proxy/rig.ts";

const BIG = "0123456789".repeat(300_000);
let rig: Rig;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "owl-files-"));
  const [now, next, before] = [join(folder, "now"), join(folder, "next"), join(folder, "before")];
  for (const path of [now, next, before, join(now, "docs"), join(before, "old")]) mkdirSync(path);
  writeFileSync(join(folder, "secret.txt"), "secret");
  writeFileSync(join(now, "index.html"), "<p>home");
  writeFileSync(join(now, "docs/index.html"), "<p>docs");
  writeFileSync(join(now, "app.js"), "plain".repeat(1_000));
  writeFileSync(join(now, "app.js.gz"), gzipSync("plain".repeat(1_000)));
  writeFileSync(join(now, "big.txt"), BIG);
  writeFileSync(join(now, "empty.txt"), "");
  writeFileSync(join(next, "new.js"), "new");
  for (const name of ["app.js", "old.js", "old.html", "old/index.html"]) writeFileSync(join(before, name), "before");
  symlinkSync("../secret.txt", join(now, "out.txt"));
  symlinkSync("..", join(now, "up"));
  symlinkSync("app.js", join(now, "in.js"));
  execFileSync("mkfifo", [join(now, "pipe.txt")]);
  rig = await startRig();
  await rig.addUpstream("a", (socket) =>
    onRequests(socket, () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup")),
  );
  const files = { directories: [now, next], cacheS: 3_600, kept: [join(folder, "none"), before] };
  await rig.routes([rig.routeTo(["a"]), rig.routeTo([], { path: "/assets", files })]);
});
afterAll(async () => {
  await rig.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`http://127.0.0.1:${rig.port}${path}`, { method, headers, redirect: "manual" });

test("a file comes with what a client needs to keep it, and is not sent twice", async () => {
  const first = await ask("/assets/big.txt");
  expect(await first.text()).toBe(BIG);
  const etag = first.headers.get("etag") ?? "";
  expect(Object.fromEntries(first.headers)).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(BIG.length),
    "cache-control": "public, max-age=3600",
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    etag: expect.stringMatching(/^"[0-9a-f]+-[0-9a-f]+"$/),
  });
  const again = await ask("/assets/big.txt", { "if-none-match": etag });
  expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
  const since = await ask("/assets/big.txt", { "if-modified-since": first.headers.get("last-modified") ?? "" });
  expect(since.status).toBe(304);
  const head = await ask("/assets/big.txt", {}, "HEAD");
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, String(BIG.length), ""]);
  expect(await (await ask("/assets/empty.txt")).text()).toBe("");
});

test("a part of a file", async () => {
  const part = await ask("/assets/big.txt", { range: "bytes=10-14" });
  expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
    206,
    `bytes 10-14/${BIG.length}`,
    "01234",
  ]);
  const beyond = await ask("/assets/big.txt", { range: `bytes=${BIG.length}-` });
  expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${BIG.length}`]);
});

test("a packed file beside it goes to whoever takes it", async () => {
  const packed = await ask("/assets/app.js", { "accept-encoding": "gzip" });
  expect(packed.headers.get("content-encoding")).toBe("gzip");
  expect(packed.headers.get("vary")).toBe("Accept-Encoding");
  expect(await packed.text()).toBe("plain".repeat(1_000));
  const plain = await ask("/assets/app.js", { "accept-encoding": "identity" });
  expect([plain.headers.get("content-encoding"), plain.headers.get("vary")]).toEqual([null, "Accept-Encoding"]);
  expect(plain.headers.get("etag")).not.toBe(packed.headers.get("etag"));
  expect(await plain.text()).toBe("plain".repeat(1_000));
});

test("directories have their index.html, and their links begin in them", async () => {
  const home = await ask("/assets/");
  expect([await home.text(), home.headers.get("cache-control")]).toEqual(["<p>home", "no-cache"]);
  expect(await (await ask("/assets/docs/")).text()).toBe("<p>docs");
  for (const path of ["/assets", "/assets/docs"]) {
    const moved = await ask(path);
    expect([moved.status, moved.headers.get("location")]).toEqual([308, `${path}/`]);
  }
});

test("what lies elsewhere is not served, whatever leads there", async () => {
  for (const path of [
    "/out.txt",
    "/up/secret.txt",
    "/..%2fsecret.txt",
    "/none.txt",
    "/.hidden",
    "/app.js/",
    "/pipe.txt",
  ])
    expect([path, (await ask(`/assets${path}`)).status]).toEqual([path, 404]);
  expect((await ask("/assets/in.js")).status).toBe(200);
  expect(await (await ask("/assets/new.js")).text()).toBe("new");
  const posted = await ask("/assets/app.js", {}, "POST");
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("what open pages of a release before name is found, its pages are not", async () => {
  const old = await ask("/assets/old.js");
  expect([await old.text(), old.headers.get("cache-control")]).toEqual(["before", "public, max-age=3600"]);
  expect(await (await ask("/assets/app.js", { "accept-encoding": "identity" })).text()).toMatch(/^plain/);
  for (const path of ["/old.html", "/old/", "/old"])
    expect([path, (await ask(`/assets${path}`)).status]).toEqual([path, 404]);
});

test("instances answer the rest, and a table without directories is taken as before", async () => {
  expect(await (await ask("/")).text()).toBe("up");
  await rig.route(["a"]);
  expect(await (await ask("/assets/app.js")).text()).toBe("up");
  expect(await rig.counters()).toMatchObject({ inFlight: 0, failures: 0 });
});
