// A block of lines redrawn in place at the bottom of a terminal (standard error), ten times a second.

import type { Clock } from "../../config/time.ts";
import type { Terminal } from "./terminal.ts";
import { cut } from "./width.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

interface LiveBlock {
  /** A line that stays, above the block. */
  above(line: string): void;
  /** Draws a last time and leaves the block where it is. */
  close(): void;
}

export function liveBlock(terminal: Terminal, clock: Clock, draw: (frame: string) => readonly string[]): LiveBlock {
  let drawn = 0;
  let frame = 0;
  let closed = false;
  let cancel = () => {};
  const redraw = (kept: readonly string[] = []) => {
    const lines = draw(FRAMES[frame % FRAMES.length] ?? "").slice(0, Math.max(1, terminal.rows() - 1));
    const up = drawn > 0 ? `\u001b[${drawn}A` : "";
    const body = [...kept, ...lines].map((line) => `\u001b[2K${cut(line, terminal.columns() - 1)}\n`).join("");
    terminal.rawErr(`${up}\r${body}\u001b[J`);
    drawn = lines.length;
  };
  const tick = () => {
    if (closed) return;
    redraw();
    frame += 1;
    cancel = clock.after(100, tick, { unref: true });
  };
  tick();
  return {
    above: (line) => redraw([line]),
    close() {
      if (closed) return;
      cancel();
      redraw();
      closed = true;
    },
  };
}
