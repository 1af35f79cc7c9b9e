// A native modal dialog: focus, Escape and the inert page behind it are the browser's.

import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { t } from "../text/text.ts";
import { Icon } from "./icon.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

export function Dialog({ title, onClose, children, wide = false }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a native dialog
    <dialog
      ref={dialog}
      class={wide ? "wide" : undefined}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="quiet" aria-label={t("close")} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly danger?: boolean;
  /** What leaving the dialog does, where "Cancel" would be taken for the act itself. */
  readonly keep?: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, text, action, danger = false, keep, onConfirm, onClose }: ConfirmProps): VNode {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <footer>
        <button type="button" onClick={onClose}>
          {keep ?? t("cancel")}
        </button>
        <button type="button" class={danger ? "danger" : "primary"} onClick={onConfirm}>
          {action}
        </button>
      </footer>
    </Dialog>
  );
}
