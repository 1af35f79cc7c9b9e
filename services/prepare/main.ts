// The prepare step's entry.

import { runProgram } from "../program.ts";

await runProgram("prepare", () => import("./wiring.ts"));
