// A checkout in miniature: the bootstrap of this repository, a lock file of its own, a stand-in for owld and for npm.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Checkout {
  readonly root: string;
  readonly home: string;
  /** How often the stand-in for npm was asked to install. */
  installs(): number;
  /** Signals and starts the stand-in for owld has noted, one a line. */
  notes(): string[];
  setLock(packages: Record<string, { version: string; optional?: boolean }>): void;
  /** What npm says it has installed. */
  setInstalled(packages: Record<string, { version: string }>): void;
  readonly env: Record<string, string>;
  remove(): void;
}

/** Makes one below the temporary directory; `owld` is the body of the stand-in (JavaScript, see stand-in-owld.mjs). */
export function makeCheckout(): Checkout {
  const root = mkdtempSync(join(tmpdir(), "owl-co-"));
  const home = join(root, ".owl");
  for (const folder of ["ctl", "supervisor", "node_modules"]) mkdirSync(join(root, folder));
  cpSync(join(ROOT, "ctl/bootstrap.mjs"), join(root, "ctl/bootstrap.mjs"));
  cpSync(join(ROOT, "ctl/bootstrap"), join(root, "ctl/bootstrap"), { recursive: true });
  symlinkSync(
    join(ROOT, "node_modules", `node-linux-${process.arch}`),
    join(root, "node_modules", `node-linux-${process.arch}`),
  );
  const program = join(ROOT, "test/support/programs/stand-in-owld.mjs");
  writeFileSync(join(root, "supervisor/owld"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(root, "supervisor/owld"), 0o755);
  const npm = join(root, "npm.js");
  const count = join(root, "installs");
  writeFileSync(
    npm,
    `const fs = require("node:fs"); fs.appendFileSync(${JSON.stringify(count)}, "x");
     if (process.env.NPM_FAILS) process.exit(7);
     fs.mkdirSync("node_modules", { recursive: true });
     const lock = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
     fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: lock.packages }));`,
  );
  const write = (file: string, packages: object) => writeFileSync(join(root, file), JSON.stringify({ packages }));
  write("package-lock.json", { "": {}, "node_modules/a": { version: "1.0.0" } });
  write("node_modules/.package-lock.json", { "node_modules/a": { version: "1.0.0" } });
  return {
    root,
    home,
    installs: () => (existsSync(count) ? readFileSync(count, "utf8").length : 0),
    notes: () => (existsSync(join(home, "notes")) ? readFileSync(join(home, "notes"), "utf8").trim().split("\n") : []),
    setLock: (packages) => write("package-lock.json", { "": {}, ...packages }),
    setInstalled: (packages) => write("node_modules/.package-lock.json", packages),
    env: { npm_execpath: npm, OWL_HOME: home, OWL_LANG: "en" },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
