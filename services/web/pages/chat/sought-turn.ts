// The turn that the address names (`?turn=`, of a search or a link): read, shown and marked, once a visit.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { browserClock } from "../browser-time.ts";
import { MOST_PAGE_TURNS, type OpenConversation, readEarlier, showVersion } from "./conversation.ts";

const ID = /^[0-9a-f-]{36}$/;

/** `leaveEnd`: the reader is no longer at the end of the conversation. */
export function useSoughtTurn(
  box: RefObject<HTMLDivElement | null>,
  conversation: OpenConversation,
  leaveEnd: () => void,
): void {
  const wanted = new URLSearchParams(globalThis.location?.search ?? "").get("turn") ?? "";
  const { id, load } = conversation;
  const found = useRef("");

  useEffect(() => {
    if (!ID.test(wanted)) found.current = "";
    if (load !== "ready" || id === "" || !ID.test(wanted) || found.current === wanted) return;
    found.current = wanted;
    const stop = new AbortController();
    const shown = (): HTMLElement | null => box.current?.querySelector<HTMLElement>(`[data-turn="${wanted}"]`) ?? null;
    void (async () => {
      // Further back, or in a version that is not shown.
      await readBackTo(id, shown, stop.signal);
      if (shown() === null && !stop.signal.aborted) {
        await showVersion(id, wanted);
        await readBackTo(id, shown, stop.signal);
      }
      const turn = shown();
      if (turn === null || stop.signal.aborted) return;
      leaveEnd();
      turn.tabIndex = -1;
      turn.classList.add("sought");
      turn.focus({ preventScroll: true });
      turn.scrollIntoView({ block: "start" });
      // Places of what was never drawn are guessed until it is.
      await browserClock.sleep(100, stop.signal);
      turn.scrollIntoView({ block: "start" });
    })().catch(() => undefined);
    return () => stop.abort();
  }, [id, load, wanted]);
}

async function readBackTo(id: string, shown: () => HTMLElement | null, signal: AbortSignal): Promise<void> {
  do await browserClock.sleep(0, signal);
  while (shown() === null && (await readEarlier(id, MOST_PAGE_TURNS)));
  await browserClock.sleep(0, signal);
}
