// A team's service for the benchmark: event streams that say hello, are told when it is asked to, and end on SIGTERM.

import { createServer, type ServerResponse } from "node:http";

const open = new Set<ServerResponse>();
const server = createServer((request, response) => {
  if (request.url === "/events") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: hello\n\n");
    open.add(response);
    response.on("close", () => open.delete(response));
    return;
  }
  response.end("ok");
});
server.listen({ path: process.env.OWL_SOCKET ?? "", backlog: 4_096 });
// Everybody hears a tick at once: that is the burst that is measured.
const tick = setInterval(() => {
  for (const response of open) response.write(`data: tick ${process.env.OWL_INSTANCE}\n\n`);
}, 5_000);
process.on("SIGTERM", () => {
  clearInterval(tick);
  for (const response of open) response.end();
  server.close(() => process.exit(0));
});
