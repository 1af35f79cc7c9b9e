// The way in through an identity provider, and why it was not open. A link: the browser goes there as a whole.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { SIGN_IN_REFUSALS } from "../../core/sign-in.ts";
import { Failure } from "./parts/failure.tsx";
import { signInWays } from "./sign-in-ways.ts";
import { say } from "./text/provider-words.ts";
import { useLanguage } from "./text/text.ts";

export default function ProviderSignIn(): VNode {
  useLanguage();
  const [refused] = useState(() => {
    const told = new URLSearchParams(location.search).get("refused");
    return SIGN_IN_REFUSALS.find((one) => one === told);
  });
  // Said once: neither a reload nor the page after signing in repeats it.
  useEffect(() => {
    if (refused !== undefined) history.replaceState(null, "", location.pathname);
  }, []);
  const to = encodeURIComponent(refused === undefined ? location.pathname + location.search : "/");
  return (
    <>
      {refused !== undefined && <Failure text={say(`provider.refused.${refused}`)} />}
      <a class="button primary" href={`/api/session/provider?to=${to}`}>
        {signInWays()?.button ?? say("provider.button")}
      </a>
    </>
  );
}
