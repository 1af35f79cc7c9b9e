// A spare beside a proxy of an earlier owld: a shell with its listening sockets, which so outlive a kill -9 of it, and
// which becomes the next proxy. Only for sockets that owld cannot have itself: no process can give them to it.
// Invariant: it lives no longer than this owld, by the FIFO it reads from; it never accepts.

import { closeSync, constants, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { HomePaths } from "../../config/home.ts";
import type { ProcessIdentity, ProcessTable } from "../ports.ts";
import { makeFifos, openWriteEnd } from "../process/exit-fifo.ts";
import type { ProxyClient } from "./client.ts";

/** Ends without a word when the last writer is gone. */
const WAIT = 'read -r told <"$0" && . "$told"';

/** What it is to become. */
interface SpareProgram {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly logFile: string;
}

export interface Spare {
  /** Has one started by `donor`, unless there is one for these addresses. */
  keep(donor: ProxyClient, addresses: string): Promise<void>;
  /** It becomes that program, its listeners from descriptor 4 on; null: there is none for these addresses, nor any other. */
  become(addresses: string, program: SpareProgram): Promise<ProcessIdentity | null>;
  end(): void;
}

export function createSpare({ paths, table }: { paths: HomePaths; table: ProcessTable }): Spare {
  const fifo = join(paths.run, "spare.fifo");
  const words = join(paths.run, "spare.sh");
  let kept: { readonly addresses: string; readonly identity: ProcessIdentity } | null = null;
  /** Our end of the FIFO; kept after its last word, for it may not be read yet. */
  let end: number | null = null;
  let asking: Promise<void> | null = null;

  function close(): void {
    kept = null;
    if (end === null) return;
    closeSync(end);
    end = null;
    releaseLeft(fifo);
  }

  async function start(donor: ProxyClient, addresses: string): Promise<void> {
    close();
    releaseLeft(fifo);
    await makeFifos([fifo]);
    end = openWriteEnd(fifo);
    const pid = await donor.keep(["/bin/sh", "-c", WAIT, fifo]);
    const identity = table.identify(pid);
    if (identity !== null && end !== null) kept = { addresses, identity };
  }

  return {
    async keep(donor, addresses) {
      if (asking !== null || (kept?.addresses === addresses && table.isAlive(kept.identity))) return;
      asking = start(donor, addresses).finally(() => {
        asking = null;
      });
      await asking;
    },
    async become(addresses, { argv, env, cwd, logFile }) {
      // A donor that is gone has told its process, or never will.
      await asking?.catch(() => undefined);
      if (kept?.addresses !== addresses || end === null || !table.isAlive(kept.identity)) {
        // One that nobody knows would hold the addresses for ever.
        close();
        return null;
      }
      const { identity } = kept;
      const given = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const lines = [
        'rm -f "$told"',
        `cd ${quoted(cwd)}`,
        `exec >>${quoted(logFile)} 2>&1`,
        `exec ${["env", "-i", ...given, ...argv].map(quoted).join(" ")}`,
      ];
      writeFileSync(words, lines.join("\n"), { mode: 0o600 });
      writeSync(end, `${words}\n`);
      kept = null;
      return identity;
    },
    end: close,
  };
}

/** One whose owld died before it had begun to read would wait for ever: it sees a writer come and go. */
function releaseLeft(fifo: string): void {
  try {
    closeSync(openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK));
  } catch {
    // None was left.
  }
  rmSync(fifo, { force: true });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
