// The bundled web's entry.

import { runProgram } from "../program.ts";

await runProgram("web", () => import("./wiring.ts"));
