// Serves the directories of routes that have `files:`, loaded with the first of them. To both engines it is an upstream
// like any other: a server of this process on a Unix socket of its own.
// Invariant: what is sent lies in the route's directory, wherever links lead: it is opened first and judged by where it
// then turns out to lie; a file is open no longer than its answer.

import { once } from "node:events";
import { chmodSync, constants, readlinkSync, rmSync } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { asError } from "../../config/errors.ts";
import { createServer } from "../../config/http.ts";
import type { ProxyRoute, ProxyUpstream, RoutingTable } from "../../config/proxy-feed.ts";
import { type Coding, chooseCoding } from "./core/compression.ts";
import { cacheLine, fileBelow, isKept, typeOf, wantedOf } from "./core/file-request.ts";
import { hostName, matchRoute, pathOf } from "./core/route-match.ts";
import type { Log } from "./log.ts";

type FileRoute = ProxyRoute & { readonly files: NonNullable<ProxyRoute["files"]> };

/** Files that lie packed beside the plain one. */
const ENDINGS: Readonly<Record<Coding, string>> = { zstd: ".zst", br: ".br", gzip: ".gz" };

export interface Files {
  use(routes: readonly ProxyRoute[]): void;
  /** The table in which its routes have this for their upstream. */
  among(table: RoutingTable): RoutingTable;
  stop(): void;
}

/** Rejects when it cannot listen on `socket`. */
export async function createFiles(socket: string, log: Log): Promise<Files> {
  let routes: readonly FileRoute[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request.url ?? "/");
    const route = matchRoute(routes, hostName(request.headers.host ?? ""), path);
    if (route === null) return refuse(response, 404);
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      return refuse(response, 405);
    }
    const { directories, cacheS, kept = [] } = route.files;
    const below = fileBelow(route.path, path);
    if (below === null) return refuse(response, 404);
    if (below === "" && !path.endsWith("/")) return moveOn(response, path);
    const file = below === "" || below.endsWith("/") ? `${below}index.html` : below;
    for (const directory of directories) {
      const root = await realpath(directory).catch(() => null);
      const plain = root === null ? null : await openBelow(root, file);
      if (plain === "directory") return moveOn(response, path);
      if (root !== null && plain !== null) return await send(request, response, file, { root, plain, cacheS });
    }
    for (const directory of isKept(file, cacheS) ? kept : []) {
      const root = await realpath(directory).catch(() => null);
      const plain = root === null ? null : await openBelow(root, file);
      if (root !== null && plain !== null && plain !== "directory")
        return await send(request, response, file, { root, plain, cacheS });
    }
    refuse(response, 404);
  }

  /** Relative links of a directory's page begin in it. */
  function moveOn(response: ServerResponse, path: string): void {
    response.setHeader("Location", `${path}/`.replace(/^\/+/, "/"));
    refuse(response, 308);
  }

  async function send(
    request: IncomingMessage,
    response: ServerResponse,
    file: string,
    { root, plain, cacheS }: { readonly root: string; readonly plain: FileHandle; readonly cacheS: number | null },
  ): Promise<void> {
    const opened = new Map<Coding, FileHandle>();
    try {
      for (const coding of ["zstd", "br", "gzip"] as const) {
        const packed = await openBelow(root, `${file}${ENDINGS[coding]}`);
        if (packed !== null && packed !== "directory") opened.set(coding, packed);
      }
      if (opened.size > 0) response.setHeader("Vary", "Accept-Encoding");
      const { headers } = request;
      const coding = chooseCoding(String(headers["accept-encoding"] ?? ""), [...opened.keys()]);
      const handle = coding === null ? plain : (opened.get(coding) ?? plain);
      if (coding !== null) response.setHeader("Content-Encoding", coding);
      const { size: bytes, mtimeMs: modifiedMs } = await handle.stat();
      const etag = `"${bytes.toString(16)}-${Math.round(modifiedMs * 1_000).toString(16)}${coding === null ? "" : `-${coding}`}"`;
      const wanted = wantedOf(
        { etag, modifiedMs, bytes },
        {
          ifNoneMatch: headers["if-none-match"],
          ifModifiedSince: headers["if-modified-since"],
          range: request.method === "GET" ? headers.range : undefined,
          ifRange: headers["if-range"] as string | undefined,
        },
      );
      response.setHeader("ETag", etag);
      response.setHeader("Last-Modified", new Date(modifiedMs).toUTCString());
      response.setHeader("Cache-Control", cacheLine(file, cacheS));
      response.setHeader("Accept-Ranges", "bytes");
      response.setHeader("X-Content-Type-Options", "nosniff");
      if (wanted.kind === "notModified") {
        response.writeHead(304).end();
        return;
      }
      if (wanted.kind === "outOfRange") {
        response.setHeader("Content-Range", `bytes */${bytes}`);
        return refuse(response, 416);
      }
      const [start, end] = wanted.kind === "part" ? [wanted.start, wanted.end] : [0, bytes - 1];
      if (wanted.kind === "part") response.setHeader("Content-Range", `bytes ${start}-${end}/${bytes}`);
      response.setHeader("Content-Type", typeOf(file));
      response.setHeader("Content-Length", end - start + 1);
      response.writeHead(wanted.kind === "part" ? 206 : 200);
      if (request.method === "HEAD" || bytes === 0) {
        response.end();
        return;
      }
      // A client that left needs nothing more; one whose file shrank meanwhile sees its answer break off.
      await pipeline(handle.createReadStream({ start, end, autoClose: false }), response).catch(() => undefined);
    } finally {
      await Promise.all([close(plain), ...[...opened.values()].map(close)]);
    }
  }

  const upstream: ProxyUpstream = { id: "files", target: { socket } };
  const server = createServer((request, response) => {
    request.resume();
    answer(request, response).catch((error: unknown) => {
      log.warn({ error: asError(error).message }, "a file was not served");
      if (response.headersSent) response.destroy();
      else refuse(response, 500);
    });
  });
  // Idle connections are the proxy's own, which closes them earlier.
  server.keepAliveTimeout = 60_000;
  server.requestTimeout = 0;
  rmSync(socket, { force: true });
  server.listen(socket);
  await once(server, "listening");
  chmodSync(socket, 0o600);
  server.unref();
  return {
    among: ({ routes: all, ...table }) => ({
      ...table,
      routes: all.map((route) => (route.files === undefined ? route : { ...route, upstreams: [upstream] })),
    }),
    use(next) {
      routes = next.filter((route): route is FileRoute => route.files !== undefined);
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A plain file of `root`, open; null: there is none that may be read here. */
async function openBelow(root: string, file: string): Promise<FileHandle | "directory" | null> {
  let handle: FileHandle;
  try {
    // What is no file at all, a pipe without a writer for one, must not keep us waiting.
    handle = await open(`${root}/${file}`, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  const facts = await handle.stat();
  const lies = readlinkSync(`/proc/self/fd/${handle.fd}`);
  const isInside = root === "/" || lies === root || lies.startsWith(`${root}/`);
  if (isInside && facts.isFile()) return handle;
  await handle.close();
  return isInside && facts.isDirectory() ? "directory" : null;
}

async function close(handle: FileHandle | "directory" | null): Promise<void> {
  if (handle !== null && handle !== "directory") await handle.close();
}

const PHRASES: Readonly<Record<number, string>> = {
  308: "It is there.",
  404: "There is no such file.",
  405: "Files are only read here.",
  416: "The file has no such part.",
  500: "The file could not be read.",
};

function refuse(response: ServerResponse, status: number): void {
  const body = `${PHRASES[status] ?? ""}\n`;
  response.setHeader("Content-Type", "text/plain; charset=utf-8");
  response.setHeader("Content-Length", Buffer.byteLength(body));
  response.writeHead(status).end(response.req.method === "HEAD" ? undefined : body);
}
