// What could not be loaded or done: said in place, with the way on. Never an empty list in its stead.

import type { VNode } from "preact";
import { ApiError } from "../api.ts";
import { sizeText } from "../core/duration.ts";
import { numberText, t } from "../text/text.ts";
import { Icon } from "./icon.tsx";

const LIMIT_TEXTS: Readonly<Record<string, (limit: number) => string>> = {
  "limit.turns": (limit) => t("limit.turns", { limit: numberText(limit) }),
  "limit.uploads": (limit) => t("limit.uploads", { limit: numberText(limit) }),
  "limit.uploadBytes": (limit) => t("limit.uploadBytes", { limit: sizeText(limit) }),
  "limit.attachments": (limit) => t("limit.attachments", { limit: numberText(limit) }),
  "limit.runs": (limit) => t("limit.runs", { limit: numberText(limit) }),
  "limit.recordings": (limit) => t("limit.recordings", { limit: numberText(limit) }),
  "limit.conversations": (limit) => t("limit.conversations", { limit: numberText(limit) }),
  "limit.playbooks": (limit) => t("limit.playbooks", { limit: numberText(limit) }),
  "limit.requests": () => t("limit.requests"),
  "limit.schedules": (limit) => t("limit.schedules", { limit: numberText(limit) }),
  "limit.tokens": (limit) => t("limit.tokens", { limit: numberText(limit) }),
  "limit.eventStreams": () => t("limit.eventStreams"),
  "limit.storedBytes": (limit) => t("limit.storedBytes", { limit: sizeText(limit) }),
  "limit.budget": (limit) => t("limit.budget", { limit: numberText(limit) }),
  "limit.searches": (limit) => t("limit.searches", { limit: numberText(limit) }),
};

/** A sentence for the user: our own words where we know the code, else what the server said. */
export function failureText(error: unknown): string {
  if (!(error instanceof ApiError)) return t("error.unknown");
  if (error.code === "network") return t("error.network");
  if (error.status === 502 || error.status === 503 || error.status === 504) return t("error.busy");
  if (error.code === "session.wrong") return t("signIn.wrong");
  if (error.code === "session.code" || error.code === "factor.wrong") return t("factor.wrong");
  if (error.code === "session.tooMany") return t("signIn.tooMany");
  if (error.code === "session.local") return t("signIn.local");
  if (error.code === "session.stale") return t("signIn.stale");
  if (error.code === "password.weak") return t("password.weak");
  const limitText = LIMIT_TEXTS[error.code];
  if (limitText) return limitText(Number(error.data.limit));
  return error.next ? `${error.message} ${error.next}` : error.message;
}

export function Failure({ text, onRetry }: { readonly text: string; readonly onRetry?: () => void }): VNode {
  return (
    <div class="failure" role="alert">
      <Icon name="alert" />
      <p>{text}</p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {t("retry")}
        </button>
      )}
    </div>
  );
}
