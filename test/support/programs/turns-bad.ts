// A web service of a team's own that is well at first and turns bad as BAD says, BAD_MS after its start.

import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";

const [bad = "", after = 0] = [process.env.BAD, Number(process.env.BAD_MS ?? 0)];
const isBad = (): boolean => process.uptime() * 1_000 >= after;
const kept: Buffer[] = [];
let answers = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    answers++;
    const isCheck = request.url === "/healthz";
    if (bad === "closes" && isBad()) return void request.socket.destroy();
    if (isCheck) response.statusCode = bad === "unhealthy" && isBad() ? 500 : 200;
    else if (bad === "errors" && isBad() && answers % Number(process.env.BAD_EACH ?? 10) === 0)
      response.statusCode = 500;
    if (isCheck || !isBad()) return void response.end(process.env.SAYS ?? "ok");
    if (bad === "hangsUp") request.socket.destroy();
    else if (bad === "breaksOff") {
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      setTimeout(() => request.socket.destroy(), 20);
    } else if (bad === "slow") setTimeout(() => response.end(process.env.SAYS ?? "late"), 400);
    else if (bad !== "silent") response.end(process.env.SAYS ?? "ok");
  });
});
/** Accepts, and greets as another protocol would. */
const greeter = createTcpServer((socket) => {
  socket.on("error", () => undefined);
  socket.write("220 ready\r\n");
});

if (bad === "never") setInterval(() => undefined, 1_000);
else (bad === "noHttp" ? greeter : server).listen(process.env.OWL_SOCKET);
if (bad === "exit") setTimeout(() => process.exit(3), after);
if (bad === "deadlock") setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), after);
if (bad === "leak") setInterval(() => kept.push(Buffer.alloc(8 * 2 ** 20, 1)), 200);
process.on("SIGTERM", () => {
  greeter.close();
  server.close(() => process.exit(0));
  server.closeIdleConnections();
  if (bad === "noHttp") process.exit(0);
});
