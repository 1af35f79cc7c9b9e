// What an administrator reads before approving an update or a rollback. Approving writes a row, once, however often the
// button is pressed; the supervisor does the rest.

import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { t } from "../text/text.ts";

interface ApprovalDialogProps {
  readonly title: string;
  readonly path: "/api/admin/update/approve" | "/api/admin/rollback/approve";
  readonly version: string;
  readonly approve: string;
  /** Something would be lost by it. */
  readonly isDangerous?: boolean;
  /** It cannot be approved; what is shown says why. */
  readonly isRefused?: boolean;
  readonly onClose: () => void;
  readonly onApproved: () => void;
  /** What it costs. */
  readonly children: ComponentChildren;
}

export function ApprovalDialog(props: ApprovalDialogProps): VNode {
  const { title, path, version, isDangerous = false, isRefused = false, onClose, onApproved } = props;
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const [key] = useState(() => browserRandom.uuid());

  async function approve(): Promise<void> {
    setBusy(true);
    setRefused(null);
    try {
      await call(path, { method: "POST", body: { version }, key });
      onApproved();
    } catch (error) {
      setRefused(failureText(error));
      setBusy(false);
    }
  }

  return (
    <Dialog title={title} onClose={onClose} wide>
      {props.children}
      <p class="soft">{t("update.power")}</p>
      {refused && <Failure text={refused} />}
      <footer>
        <button type="button" onClick={onClose}>
          {t("cancel")}
        </button>
        <button
          type="button"
          class={isDangerous ? "danger" : "primary"}
          disabled={busy || isRefused}
          onClick={() => void approve()}
        >
          {props.approve}
        </button>
      </footer>
    </Dialog>
  );
}
