// Holds a listening socket as owld does while a child answers on it; ends by its argument, `close`, `exit` or both at once, when its
// input ends. The child lives on; its pid and the port are on standard output.

import { spawn } from "node:child_process";
import { holdListener } from "../../../supervisor/process/held-listeners.ts";
import { steadyPort } from "../steady-port.ts";

const ANSWER = `
require("node:http").createServer((_, response) => response.end("here")).listen({ fd: 3 }, () => console.log("listens"));
`;
const port = await steadyPort();
const held = await holdListener({ host: "127.0.0.1", port });
const child = spawn(process.execPath, ["-e", ANSWER], {
  detached: true,
  stdio: ["ignore", "pipe", "inherit", held.descriptor],
});
await new Promise((resolve) => child.stdout?.once("data", resolve));
console.log(JSON.stringify({ port, pid: child.pid }));
process.stdin.resume();
await new Promise((resolve) => process.stdin.once("end", resolve));
if (process.argv[2] === "close") await held.close();
if (process.argv[2] === "close and exit at once") void held.close();
process.exit(0);
