// A small menu of buttons: native details, closed by a choice, Escape or a click elsewhere.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface MenuProps {
  readonly label: string;
  readonly children: ComponentChildren;
  /** What the button shows; three dots when absent. */
  readonly face?: ComponentChildren;
  readonly up?: boolean;
  /** Over what scrolls around it. */
  readonly floating?: boolean;
  readonly onOpen?: () => void;
}

/** Room a floating menu wants below its button. */
const FLOAT_PX = 190;

export function Menu({ label, children, face, up = false, floating = false, onOpen }: MenuProps): VNode {
  const menu = useRef<HTMLDetailsElement>(null);
  const [open, setOpen] = useState(false);

  function place(details: HTMLDetailsElement): void {
    const { left, right, top, bottom } = details.getBoundingClientRect();
    const items = details.querySelector<HTMLElement>(".items");
    if (!floating || !items) return;
    const isUp = innerHeight - bottom < FLOAT_PX;
    items.style.cssText = `position:fixed;right:auto;left:${Math.max(8, Math.min(left, right - 208))}px;${
      isUp ? `top:auto;bottom:${innerHeight - top + 4}px` : `top:${bottom + 4}px`
    }`;
  }

  useEffect(() => {
    if (!open) return;
    const close = (event: Event): void => {
      const element = menu.current;
      if (!element?.open) return;
      if (event instanceof KeyboardEvent) {
        if (event.key !== "Escape") return;
        element.open = false;
        element.querySelector("summary")?.focus();
      } else if (event.type === "scroll") {
        if ((event.target as Node).contains(element)) element.open = false;
      } else if (!element.contains(event.target as Node)) element.open = false;
    };
    document.addEventListener("click", close);
    document.addEventListener("keydown", close);
    if (floating) document.addEventListener("scroll", close, true);
    return () => {
      document.removeEventListener("click", close);
      document.removeEventListener("keydown", close);
      document.removeEventListener("scroll", close, true);
    };
  }, [open]);

  return (
    <details
      class={up ? "menu up" : "menu"}
      ref={menu}
      onToggle={(event) => {
        const details = event.currentTarget;
        if (details.open) {
          place(details);
          onOpen?.();
        }
        setOpen(details.open);
      }}
    >
      <summary aria-label={face ? undefined : label} title={label} class="quiet">
        {face ?? <Icon name="more" />}
      </summary>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the buttons inside are what is pressed */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
      <div
        class="items"
        onClick={(event) => {
          if ((event.target as Element).closest("button, a") && menu.current) menu.current.open = false;
        }}
      >
        {children}
      </div>
    </details>
  );
}
