// What travels between the shared worker (or the tab's own feed) and the pages.

import type { TurnEvent } from "../core/turn-view.ts";

export interface FeedStatus {
  readonly state: "connecting" | "open" | "lost" | "signedOut";
  readonly attempt: number;
  /** Wall time in ms, for showing. */
  readonly nextTryAt: number | null;
  /** The build of the pages that the server of the newest stream serves; null: it did not say. */
  readonly build: string | null;
}

/** A turn that had not ended when the stream began. */
export interface LiveTurn {
  readonly turnId: string;
  readonly conversationId: string;
  readonly seq: number;
}

export type FeedEvent =
  /** The stream began anew: what is shown as running is compared with these. */
  | { readonly kind: "hello"; readonly turns: readonly LiveTurn[] }
  | {
      readonly kind: "turn";
      readonly turnId: string;
      readonly conversationId: string;
      readonly event: TurnEvent;
    }
  /** A batch, transcription, run or analysis moved: whoever shows it reads it again. */
  | { readonly kind: "changed"; readonly what: string; readonly id: string };

export type FeedMessage =
  | { readonly kind: "status"; readonly status: FeedStatus }
  | { readonly kind: "event"; readonly event: FeedEvent };

/** What a tab tells the shared worker. */
export type TabMessage = "restart" | "signedOut" | "leave";
