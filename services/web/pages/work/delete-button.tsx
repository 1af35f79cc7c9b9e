// Deletes a piece of work that has ended, asked once more, and leads to where it was listed.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../api.ts";
import { Confirm } from "../parts/dialog.tsx";
import { failureText } from "../parts/failure.tsx";
import { go } from "../routes.ts";
import { t } from "../text/text.ts";

interface DeleteButtonProps {
  /** Of the API. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
  readonly back: string;
  readonly onRefused: (why: string) => void;
}

export function DeleteButton({ path, title, text, back, onRefused }: DeleteButtonProps): VNode {
  const [asking, setAsking] = useState(false);
  function remove(): void {
    setAsking(false);
    call(path, { method: "DELETE" }).then(
      () => go(back),
      (error: unknown) => onRefused(failureText(error)),
    );
  }
  return (
    <>
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        {t("delete")}
      </button>
      {asking && (
        <Confirm
          title={title}
          text={text}
          action={t("delete")}
          danger
          onClose={() => setAsking(false)}
          onConfirm={remove}
        />
      )}
    </>
  );
}
