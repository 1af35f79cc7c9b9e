// Listens on a TCP port of the loopback with a backlog of one and never accepts: it is busy for good. Prints the port.

import { writeSync } from "node:fs";
import { createServer } from "node:net";

const server = createServer();
server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
  const address = server.address();
  writeSync(1, `${typeof address === "object" ? address?.port : 0}\n`);
  // A frozen process would do as well, but this one can be ended by its parent's SIGKILL alone.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
