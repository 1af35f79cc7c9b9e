// Stands in for owld in tests of the bootstrap: serves a status, notes its starts and signals, exits as it is told.

import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const home = process.env.OWL_HOME;
mkdirSync(join(home, "run"), { recursive: true });
const note = (line) => appendFileSync(join(home, "notes"), `${line}\n`);
const socket = join(home, "run/control.sock");
note("started");
if (process.env.STAND_IN_EXIT) process.exit(Number(process.env.STAND_IN_EXIT));
let asked = 0;
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    note(signal);
    asked += 1;
    if (asked === 1 && process.env.STAND_IN_STUBBORN) return;
    process.exit(Number(process.env.STAND_IN_END ?? 0));
  });
}
rmSync(socket, { force: true });
const body = {
  "/v1/status": {
    pid: Number(process.env.STAND_IN_PID ?? process.pid),
    state: "steady",
    services: [],
    proxy: { listen: ["0.0.0.0:8123"] },
  },
  "/v1/config": { config: { proxy: { tls: null } } },
};
createServer((request, response) => {
  if (request.url === "/exit-75") process.exit(75);
  response.end(JSON.stringify(body[request.url] ?? null));
}).listen(socket, () => note("listening"));
