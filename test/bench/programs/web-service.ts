// A small web service for rollouts side by side: on Owl's socket or on PORT; ready at once; on SIGTERM or SIGINT it
// answers what it has and goes.

import { createServer } from "node:http";

const server = createServer((_request, response) => {
  setTimeout(() => response.end("ok"), 20);
});
const { OWL_SOCKET, PORT } = process.env;
if (OWL_SOCKET) server.listen(OWL_SOCKET);
else server.listen(Number(PORT), "127.0.0.1");
server.on("listening", () => process.send?.("ready"));
const stop = () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
};
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
