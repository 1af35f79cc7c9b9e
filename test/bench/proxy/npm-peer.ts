// One npm proxy as a process of its own: `node npm-peer.ts KIND DIR SOCKET PORT`. The packages lie in DIR/node_modules.
// Both get what their documentation offers for speed: keep-alive to the upstream, no logger.

import { Agent, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

const [kind = "", dir = "", socketPath = "", port = "0"] = process.argv.slice(2);
const load = createRequire(join(dir, "package.json"));

interface HttpProxy {
  web(request: IncomingMessage, response: ServerResponse): void;
  on(event: "error", listener: (error: Error, request: IncomingMessage, response: ServerResponse) => void): void;
}
interface Fastify {
  register(plugin: unknown, options: object): void;
  listen(options: object): Promise<string>;
}

if (kind === "http-proxy") {
  const { createProxyServer } = load("http-proxy") as { createProxyServer(options: object): HttpProxy };
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 256 });
  const proxy = createProxyServer({ target: { socketPath }, agent, xfwd: true });
  proxy.on("error", (_error, _request, response) => response.destroy());
  createServer((request, response) => proxy.web(request, response)).listen(Number(port), "127.0.0.1", 4_096);
} else {
  const fastify = (load("fastify") as (options: object) => Fastify)({ logger: false });
  const undici = load("undici") as { Agent: new (options: object) => object };
  fastify.register(load("@fastify/http-proxy"), {
    upstream: "http://localhost",
    undici: new undici.Agent({ connect: { socketPath }, connections: null, pipelining: 1, bodyTimeout: 0 }),
  });
  await fastify.listen({ port: Number(port), host: "127.0.0.1", backlog: 4_096 });
}
