// The smallest web service: ready when it listens, ends on SIGTERM when its requests are answered.

import { createServer } from "node:http";

const server = createServer((_, response) => response.end(process.env.OWL_INSTANCE));
server.listen(process.env.OWL_SOCKET ?? Number(process.env.PORT));
process.on("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
