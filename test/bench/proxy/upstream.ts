// The benchmark's upstream: answers as cheaply as Node can, so that the proxy in front is what is measured.

import { createServer, type Socket } from "node:net";

const small = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 200\r\n\r\n${"x".repeat(200)}`;
const large = Buffer.concat([
  Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n"),
  Buffer.alloc(1_048_576, "y"),
]);
const events =
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n";

const serve = (socket: Socket) => {
  let body = 0;
  let text = "";
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    if (body > 0) {
      body -= chunk.length;
      if (body <= 0) socket.write(small);
      return;
    }
    text += chunk.toString("latin1");
    for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
      const head = text.slice(0, end);
      text = text.slice(end + 4);
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
      if (length !== undefined) {
        body = Number(length) - text.length;
        text = "";
        if (body <= 0) socket.write(small);
      } else socket.write(head.startsWith("GET /large") ? large : head.startsWith("GET /events") ? events : small);
    }
  });
};
const [path = "", port] = process.argv.slice(2);
createServer(serve).listen({ path, backlog: 4_096 });
if (port !== undefined) createServer({ noDelay: true }, serve).listen({ host: "127.0.0.1", port: Number(port) });
