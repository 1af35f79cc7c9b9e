// Ignores SIGTERM, and says that it is up, by its socket too where it has one, only once it does.

import { createServer } from "node:net";

process.on("SIGTERM", () => console.log("not now"));
setInterval(() => undefined, 60_000);
if (process.env.OWL_SOCKET) createServer((client) => client.end()).listen(process.env.OWL_SOCKET);
console.log("up");
