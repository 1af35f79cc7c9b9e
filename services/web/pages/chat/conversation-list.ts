// The list of conversations: what the side column shows. Invariant: a failed load never looks like an empty list.

import type { ConversationPage, FoundConversation } from "../../../core/wire/conversation.ts";
import { ApiError, call } from "../api.ts";
import { createStore, type Store } from "../store.ts";
import { markSeen } from "./unread.ts";

interface ConversationList {
  readonly state: "loading" | "ready" | "failed";
  readonly items: readonly FoundConversation[];
  readonly next: string | null;
  /** False: a search looked through the newest ones only, `next` goes on with older ones. */
  readonly complete: boolean;
  readonly search: string;
  readonly archived: boolean;
  /** The folder that is looked into; null: what lies in none. */
  readonly folder: string | null;
  readonly folders: ConversationPage["folders"];
}

export const conversationList: Store<ConversationList> = createStore<ConversationList>({
  state: "loading",
  items: [],
  next: null,
  complete: true,
  search: "",
  archived: false,
  folder: null,
  folders: [],
});

let asked = 0;

function query(list: ConversationList, next: string | null): string {
  const params = new URLSearchParams({ limit: "50" });
  if (list.search !== "") params.set("search", list.search);
  if (list.archived) params.set("archived", "true");
  if (list.folder !== null) params.set("folder", list.folder);
  if (next !== null) params.set("next", next);
  return `/api/conversations?${params}`;
}

/** Reads the list anew; what is shown stays until the answer is there. */
export async function loadConversations(
  change: Partial<Pick<ConversationList, "search" | "archived" | "folder">> = {},
): Promise<void> {
  asked += 1;
  const mine = asked;
  conversationList.set((now) => ({ ...now, ...change }));
  try {
    // Of an older server: it tells no folders.
    const { items, next, complete, folders = [] } = await call<ConversationPage>(query(conversationList.get(), null));
    if (mine !== asked) return;
    conversationList.set((now) => ({ ...now, state: "ready", items, next, complete, folders }));
    // The last one of a folder went elsewhere, here or on another device.
    const { folder } = conversationList.get();
    if (folder !== null && !folders.some(({ name }) => name === folder)) await loadConversations({ folder: null });
  } catch (error) {
    if (mine !== asked || !(error instanceof ApiError)) return;
    conversationList.set((now) => ({ ...now, state: "failed" }));
  }
}

export async function loadMoreConversations(): Promise<void> {
  const now = conversationList.get();
  if (now.next === null) return;
  const mine = asked;
  const { items, next, complete } = await call<ConversationPage>(query(now, now.next));
  if (mine !== asked) return;
  conversationList.set((list) => {
    const known = new Set(list.items.map((item) => item.id));
    return { ...list, items: [...list.items, ...items.filter((item) => !known.has(item.id))], next, complete };
  });
}

/** Puts a changed or new conversation where it belongs, without asking the server. */
export function noteConversation(id: string, change: Partial<FoundConversation>): boolean {
  const list = conversationList.get();
  const old = list.items.find((item) => item.id === id);
  if (!old) return false;
  const item = { ...old, ...change };
  const rest = list.items.filter((other) => other.id !== id);
  const moved = change.updatedAt !== undefined && change.updatedAt !== old.updatedAt;
  const items = moved ? [item, ...rest] : list.items.map((other) => (other.id === id ? item : other));
  conversationList.set({ ...list, items });
  return true;
}

export async function renameConversation(id: string, title: string): Promise<void> {
  await call(`/api/conversations/${id}`, { method: "PATCH", body: { title } });
  noteConversation(id, { title });
}

export async function changeConversation(
  id: string,
  change: { pinned?: boolean; archived?: boolean; folder?: string | null },
): Promise<void> {
  await call(`/api/conversations/${id}`, { method: "PATCH", body: change });
  await loadConversations();
}

export async function deleteConversation(id: string): Promise<void> {
  await call(`/api/conversations/${id}`, { method: "DELETE" });
  markSeen(id);
  conversationList.set((now) => ({ ...now, items: now.items.filter((item) => item.id !== id) }));
}
