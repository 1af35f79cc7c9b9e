// One's own password once more, before something that whoever merely found the page open must not do.

import type { VNode } from "preact";
import { t } from "../text/text.ts";

interface OwnPasswordProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
}

export function OwnPassword({ value, onInput }: OwnPasswordProps): VNode {
  return (
    <label>
      {t("tokens.password")}
      <input
        type="password"
        required
        autocomplete="current-password"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}
