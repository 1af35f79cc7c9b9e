// npm run bench -- NAME [OPTIONS]: the benchmarks by name.

import { benchProxy } from "./proxy/run.ts";

const BENCHES: Record<string, (args: readonly string[]) => Promise<void>> = { proxy: benchProxy };

const [name = "", ...args] = process.argv.slice(2);
const bench = BENCHES[name];
if (bench === undefined) {
  process.stderr.write(`Which benchmark? npm run bench -- ${Object.keys(BENCHES).join("|")}\n`);
  process.exitCode = 2;
} else {
  await bench(args);
}
