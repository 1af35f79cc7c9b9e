// The terminal's other screen, redrawn whole without flicker and given back as it was, whatever ends the program.

import type { Terminal } from "./terminal.ts";
import { cut } from "./width.ts";

interface FullScreen {
  draw(lines: readonly string[]): void;
  close(): void;
}

export function fullScreen(terminal: Terminal): FullScreen {
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    terminal.rawOut("\u001b[?25h\u001b[?1049l");
  };
  terminal.rawOut("\u001b[?1049h\u001b[?25l");
  process.once("exit", close);
  return {
    draw(lines) {
      const rows = lines.slice(0, terminal.rows()).map((line) => `${cut(line, terminal.columns())}\u001b[K`);
      terminal.rawOut(`\u001b[H${rows.join("\r\n")}\u001b[J`);
    },
    close,
  };
}
