// A small menu of buttons: native details, closed by a choice, Escape or a click elsewhere.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface MenuProps {
  readonly label: string;
  readonly children: ComponentChildren;
  /** What the button shows; three dots when absent. */
  readonly face?: ComponentChildren;
  readonly up?: boolean;
}

export function Menu({ label, children, face, up = false }: MenuProps): VNode {
  const menu = useRef<HTMLDetailsElement>(null);

  useEffect(() => {
    const close = (event: Event): void => {
      const element = menu.current;
      if (!element?.open) return;
      if (event instanceof KeyboardEvent) {
        if (event.key !== "Escape") return;
        element.open = false;
        element.querySelector("summary")?.focus();
      } else if (!element.contains(event.target as Node)) element.open = false;
    };
    document.addEventListener("click", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("click", close);
      document.removeEventListener("keydown", close);
    };
  }, []);

  return (
    <details class={up ? "menu up" : "menu"} ref={menu}>
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
