// Which conversations got an answer nobody has looked at in this browser yet.

import { keep, onKept, readKept } from "../kept.ts";
import { createStore, type Store } from "../store.ts";

type Marks = Readonly<Record<string, string>>;

/** Conversation id to the moment of the ending that was not seen. */
export const unread: Store<Marks> = createStore<Marks>(readKept<Marks>("unread", {}));

onKept("unread", () => unread.set(readKept<Marks>("unread", {})));

function store(marks: Marks): void {
  unread.set(marks);
  keep("unread", Object.keys(marks).length === 0 ? null : marks);
}

export function markUnread(id: string, at: string): void {
  store({ ...unread.get(), [id]: at });
}

/** Removes the mark: it was looked at (or is gone). */
export function markSeen(id: string): void {
  const marks = unread.get();
  if (!(id in marks)) return;
  const { [id]: _seen, ...rest } = marks;
  store(rest);
}
