// What is to be said of the proxy's certificate. Pure.

import type { WallMs } from "../../config/time.ts";
import type { Text } from "./text/text.ts";

export type CertificateFacts =
  | {
      readonly path: string;
      readonly problem: null;
      /** Self-made, until the authority's first one is there. */
      readonly standIn: boolean;
      /** Hosts of routes that it does not name. */
      readonly unnamed: readonly string[];
      readonly fromMs: WallMs;
      readonly untilMs: WallMs;
    }
  | {
      readonly path: string;
      readonly problem:
        | { readonly kind: "key"; readonly key: string }
        | { readonly kind: "unusable"; readonly why: string };
    };

/** So long before its end it is warned of, or in the last quarter of a short life: renewing has failed by then. */
const WARN_MS = 14 * 86_400_000;
const WARN_SHARE = 1 / 4;

interface Judgement {
  readonly verdict: "OK" | "WARN" | "FAIL";
  readonly found: (text: Text["preflight"]) => string;
}

export function judgeCertificate(facts: CertificateFacts, nowMs: WallMs): Judgement {
  const { path, problem } = facts;
  if (problem !== null) {
    const said = (t: Text["preflight"]): string =>
      problem.kind === "key" ? t.certificate.otherKey(path, problem.key) : t.certificate.unusable(path, problem.why);
    return { verdict: "FAIL", found: said };
  }
  const { standIn, unnamed, fromMs, untilMs } = facts;
  if (standIn) return { verdict: "WARN", found: (t) => t.certificate.standIn };
  const day = new Date(untilMs).toISOString().slice(0, 10);
  if (untilMs <= nowMs || fromMs > nowMs)
    return {
      verdict: "FAIL",
      found: (t) => t.certificate.notNow(path, new Date(fromMs).toISOString().slice(0, 10), day),
    };
  if (untilMs - nowMs <= Math.min(WARN_MS, (untilMs - fromMs) * WARN_SHARE))
    return { verdict: "WARN", found: (t) => t.certificate.ends(path, Math.floor((untilMs - nowMs) / 86_400_000), day) };
  if (unnamed.length > 0) return { verdict: "WARN", found: (t) => t.certificate.unnamed(path, unnamed.join(", ")) };
  return { verdict: "OK", found: (t) => t.certificate.good(path, day) };
}
