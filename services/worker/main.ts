// The bundled worker's entry.

import { runProgram } from "../program.ts";

await runProgram("worker", () => import("./wiring.ts"));
