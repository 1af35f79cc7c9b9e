// Page addresses: the browser's history is the only place that knows where we are (serve.ts names the same ones).
// Invariant: nothing but the user's own act navigates; a result that arrives late never does.

import { createStore, type Store, useStore } from "./store.ts";

export type Place =
  | { readonly page: "chat"; readonly id: string | null }
  | { readonly page: "recordings"; readonly id: string | null }
  | { readonly page: "batches"; readonly id: string | null }
  | { readonly page: "playbooks"; readonly id: string | null }
  | { readonly page: "playbook-runs"; readonly id: string | null }
  | { readonly page: "assistants"; readonly id: string | null }
  | { readonly page: "prompts"; readonly id: string | null }
  | { readonly page: "schedules"; readonly id: string | null }
  | { readonly page: "schemas"; readonly id: string | null }
  | { readonly page: "shared"; readonly id: string | null }
  | { readonly page: "admin"; readonly id: string | null }
  | { readonly page: "unknown"; readonly id: null };

const PAGES = [
  "recordings",
  "batches",
  "playbooks",
  "playbook-runs",
  "assistants",
  "prompts",
  "schedules",
  "schemas",
  "admin",
  "shared",
] as const;

/** The place a path names. */
export function placeOf(path: string): Place {
  const [first = "", id = null] = path.split("?")[0]?.split("/").filter(Boolean).map(decodeURIComponent) ?? [];
  if (first === "") return { page: "chat", id: null };
  if (first === "c" && id !== null) return { page: "chat", id };
  const page = PAGES.find((name) => name === first);
  return page ? { page, id } : { page: "unknown", id: null };
}

/** The conversation that a question on the first page has just begun, in this tab: a reload under way leads there too. */
const BEGUN = "owl.begun";

const place: Store<Place> = createStore<Place>(placeOf(globalThis.location?.pathname ?? "/"));

/** The first page reloaded while its question was being sent is that question's conversation. */
export function resumeBegun(): void {
  const begun = sessionStorage.getItem(BEGUN);
  sessionStorage.removeItem(BEGUN);
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (begun !== null && location.pathname === "/" && entry?.type === "reload") go(begun, "replace");
}

globalThis.addEventListener?.("popstate", () => {
  sessionStorage.removeItem(BEGUN);
  place.set(placeOf(location.pathname));
});

export const usePlace = (): Place => useStore(place);

/** Where we are now. */
export const placeNow = (): Place => place.get();

/** From the first page to the conversation that its question began. */
export function goToBegun(conversationId: string): void {
  const path = `/c/${conversationId}`;
  go(path, "replace");
  sessionStorage.setItem(BEGUN, path);
}

/** Goes to `path`; `replace` when the place is the same under its new name (a conversation that got its id). */
export function go(path: string, how: "push" | "replace" = "push"): void {
  sessionStorage.removeItem(BEGUN);
  if (path !== location.pathname + location.search) {
    if (how === "push") history.pushState(null, "", path);
    else history.replaceState(null, "", path);
  }
  place.set(placeOf(path));
}

/** A click handler for our own links: modified clicks stay the browser's. */
export function follow(event: MouseEvent): void {
  if (
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  ) {
    return;
  }
  const link = (event.currentTarget as HTMLAnchorElement | null)?.closest("a");
  if (!link || link.target === "_blank" || link.origin !== location.origin) return;
  event.preventDefault();
  go(link.pathname + link.search);
}
