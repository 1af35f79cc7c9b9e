// The two streams as commands see them: results on standard output, progress and errors on standard error.

import { writeSync } from "node:fs";

export type Colour = "red" | "green" | "yellow" | "blue" | "cyan" | "dim" | "bold";
export type Paint = (text: string, ...colours: Colour[]) => string;

export interface Terminal {
  /** A line of result (standard output). */
  out(line: string): void;
  /** A line of progress or error (standard error). */
  err(line: string): void;
  /** Raw bytes to standard error (cursor movement of live displays). */
  rawErr(text: string): void;
  rawOut(text: string): void;
  readonly paintOut: Paint;
  readonly paintErr: Paint;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly inIsTerminal: boolean;
  columns(): number;
  rows(): number;
}

const CODES: Readonly<Record<Colour, number>> = { red: 31, green: 32, yellow: 33, blue: 34, cyan: 36, dim: 2, bold: 1 };

/** Paints with ANSI codes when `on`. */
export function painter(on: boolean): Paint {
  return (text, ...colours) =>
    on && text !== "" ? `${colours.map((one) => `\u001b[${CODES[one]}m`).join("")}${text}\u001b[0m` : text;
}

/** The process's own streams. Colours on a terminal unless NO_COLOR; FORCE_COLOR paints pipes too. */
export function processTerminal(env: Readonly<Record<string, string | undefined>>): Terminal {
  const coloured = (isTerminal: boolean) => {
    if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
    if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0") return true;
    return isTerminal && env.TERM !== "dumb";
  };
  const outIsTerminal = process.stdout.isTTY === true;
  const errIsTerminal = process.stderr.isTTY === true;
  return {
    out: (line) => write(1, `${line}\n`),
    err: (line) => write(2, `${line}\n`),
    rawOut: (text) => write(1, text),
    rawErr: (text) => write(2, text),
    paintOut: painter(coloured(outIsTerminal)),
    paintErr: painter(coloured(errIsTerminal)),
    outIsTerminal,
    errIsTerminal: errIsTerminal && env.TERM !== "dumb",
    inIsTerminal: process.stdin.isTTY === true,
    columns: () => process.stderr.columns ?? process.stdout.columns ?? 80,
    rows: () => process.stderr.rows ?? process.stdout.rows ?? 24,
  };
}

/** Written at once and whole, so that nothing is lost when the process exits; a closed pipe (`| head`) ends it quietly. */
function write(descriptor: 1 | 2, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      else if (code === "EPIPE") process.exit(descriptor === 1 ? 0 : 1);
      else throw error;
    }
  }
}
