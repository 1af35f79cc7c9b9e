// Who is signed in here. Invariant: a 401 anywhere shows the sign-in page once; what was typed stays as a draft.

import type { ProviderEnd } from "../../core/wire/provider.ts";
import type { Session as Account } from "../../core/wire/session.ts";
import { ApiError, call, whenSignedOut } from "./api.ts";
import { startLive, stopLive } from "./events/live.ts";
import { createStore, type Store } from "./store.ts";

type Session =
  | { readonly state: "loading" }
  | { readonly state: "unreachable" }
  /** expired: somebody was signed in here until now. */
  | { readonly state: "signedOut"; readonly expired: boolean }
  | { readonly state: "signedIn"; readonly account: Account };

export const session: Store<Session> = createStore<Session>({ state: "loading" });

whenSignedOut(() => {
  stopLive();
  session.set((now) => (now.state === "signedOut" ? now : { state: "signedOut", expired: now.state === "signedIn" }));
});

/** Asks the server who we are. */
export async function loadSession(): Promise<void> {
  try {
    enter(await call<Account>("/api/session"));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return;
    session.set({ state: "unreachable" });
  }
}

/** Signs in; throws ApiError (`session.wrong`, `session.code`, `session.tooMany`). */
export async function signIn(name: string, password: string, code?: string): Promise<void> {
  enter(await call<Account>("/api/session", { method: "POST", body: { name, password, code } }));
}

export async function signOut(): Promise<void> {
  const now = session.get();
  const isProviders = now.state === "signedIn" && now.account.byProvider;
  const ended = await (isProviders
    ? call<ProviderEnd>("/api/session/provider/end", { method: "POST" })
    : call<null>("/api/session", { method: "DELETE" })
  ).catch(() => null);
  stopLive();
  // Everything of the last user leaves the memory with the page.
  location.assign(ended?.url ?? "/");
}

export async function changePassword(password: string, newPassword: string): Promise<void> {
  await call("/api/session/password", { method: "PUT", body: { password, newPassword } });
  // The session has another id from now on.
  startLive();
  session.set((now) =>
    now.state === "signedIn" ? { ...now, account: { ...now.account, initialPassword: false } } : now,
  );
}

function enter(account: Account): void {
  session.set({ state: "signedIn", account });
  if (!account.initialPassword) startLive();
}
