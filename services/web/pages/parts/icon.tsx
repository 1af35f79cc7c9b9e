// The few signs of the interface, drawn in one weight.

import type { VNode } from "preact";

const PATHS = {
  menu: "M4 6h16M4 12h16M4 18h16",
  plus: "M12 5v14M5 12h14",
  search: "M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13zM15.5 15.5 20 20",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  chat: "M4 5h16v11H9l-5 4z",
  recordings: "M12 4a3 3 0 0 1 3 3v4a3 3 0 0 1-6 0V7a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v3",
  batches: "M4 6h16v4H4zM4 14h16v4H4z",
  playbooks: "M5 6h2M10 6h9M5 12h2M10 12h9M5 18h2M10 18h9",
  assistants: "M12 4l1.8 5.2L19 11l-5.2 1.8L12 18l-1.8-5.2L5 11l5.2-1.8zM18 17v4M16 19h4",
  schedules: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM12 8v4.5l3 2",
  schemas: "M4 5h16v14H4zM4 10h16M10 10v9",
  admin: "M4 19V9M10 19V5M16 19v-7M21 19H3",
  down: "M12 5v14M6 13l6 6 6-6",
  before: "M14 6l-6 6 6 6",
  after: "M10 6l6 6-6 6",
  close: "M6 6l12 12M18 6 6 18",
  check: "M5 12.5 10 17.5 19 7.5",
  alert: "M12 4 2.8 20h18.4zM12 10v4M12 17h.01",
  clip: "M19 11.5 12 18.5a4.2 4.2 0 0 1-6-6l7.4-7.4a2.8 2.8 0 0 1 4 4L10 16.5a1.4 1.4 0 0 1-2-2l6.6-6.6",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  folder: "M3 6h6l2 2h10v11H3z",
  thumb: "M7 11v8H4v-8zM7 11l4-7c1.5 0 2.2 1 2 2.5L12.5 10H18a2 2 0 0 1 2 2.3l-1 5a2 2 0 0 1-2 1.7H7",
  tool: "M5 7l5 5-5 5M12 18h7",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
