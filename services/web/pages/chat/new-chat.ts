// What a new chat is begun with: the assistant that was chosen last, and instructions, which are those of one chat.

import { keep, readKept } from "../kept.ts";
import { createStore, type Store } from "../store.ts";

export interface Chosen {
  readonly id: string;
  readonly name: string;
  readonly model: string | null;
  /** Told where it was chosen in this browser. */
  readonly starters?: readonly string[];
}

/** What a new conversation is begun with. */
export const newChat: Store<{ readonly assistant: Chosen | null; readonly instructions: string }> = createStore({
  assistant: readKept<Chosen | null>("assistant", null),
  instructions: "",
});

export function chooseOfNew(assistant: Chosen | null): void {
  keep("assistant", assistant);
  newChat.set((now) => ({ ...now, assistant }));
}
