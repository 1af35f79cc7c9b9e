// The pages' beginning: who is signed in decides what is drawn.

import { render, type VNode } from "preact";
import { useEffect } from "preact/hooks";
import { loadSession, session } from "./account.ts";
import { Frame } from "./frame.tsx";
import { Failure } from "./parts/failure.tsx";
import { Lazy } from "./parts/lazy.tsx";
import { resumeBegun, usePlace } from "./routes.ts";
import { InitialPassword, SignIn } from "./sign-in.tsx";
import { useStore } from "./store.ts";
import { languageNow, t, useLanguage } from "./text/text.ts";
import { applyTheme } from "./theme.ts";

function App(): VNode | null {
  useLanguage();
  const now = useStore(session);
  const place = usePlace();
  useEffect(() => void loadSession(), []);
  // Read by people without an account too.
  if (place.page === "shared") return <Lazy load={() => import("./shared-page.tsx")} id={null} />;
  switch (now.state) {
    case "loading":
      return null;
    case "unreachable":
      return (
        <main class="sign-in">
          <Failure text={t("error.network")} onRetry={() => void loadSession()} />
        </main>
      );
    case "signedOut":
      return <SignIn expired={now.expired} />;
    case "signedIn":
      if (now.account.initialPassword) return <InitialPassword />;
      return <Frame account={now.account} />;
  }
}

applyTheme();
resumeBegun();
document.documentElement.lang = languageNow();
// A page taken from the browser's back-forward store has lost its stream.
addEventListener("pageshow", (event) => event.persisted && location.reload());
const root = document.getElementById("app");
if (root) render(<App />, root);
