// A web service of a team's own that is well at first and turns bad as BAD says, BAD_MS after its start.

import { createServer } from "node:http";

const [bad = "", after = 0] = [process.env.BAD, Number(process.env.BAD_MS ?? 0)];
const isBad = (): boolean => process.uptime() * 1_000 >= after;
let answers = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    answers++;
    const isCheck = request.url === "/healthz";
    if (isCheck) response.statusCode = bad === "unhealthy" && isBad() ? 500 : 200;
    else if (bad === "errors" && isBad() && answers % 10 === 0) response.statusCode = 500;
    if (bad === "slow" && isBad() && !isCheck) setTimeout(() => response.end("late"), 400);
    else response.end(process.env.SAYS ?? "ok");
  });
});

if (bad === "never") setInterval(() => undefined, 1_000);
else server.listen(process.env.OWL_SOCKET);
if (bad === "exit") setTimeout(() => process.exit(3), after);
if (bad === "deadlock") setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), after);
process.on("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
