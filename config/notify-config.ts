// `notify` as every part reads it: whom owld tells by itself, and when it keeps still.

import type { NoticeKind } from "./notice-kinds.ts";

/** Whom owld tells by itself, and of what. */
export interface NotifyConfig {
  readonly mail: { readonly to: readonly string[]; readonly smtp: string; readonly from: string } | null;
  /** Its URL is a secret. */
  readonly webhook: { readonly url: string } | null;
  /** null: at any hour. */
  readonly quiet: QuietHours | null;
  readonly events: readonly NoticeKind[];
}

/** Minutes of the day in `zone`; over midnight when `until` is the smaller one. */
export interface QuietHours {
  readonly fromMinute: number;
  readonly untilMinute: number;
  readonly zone: string;
}
