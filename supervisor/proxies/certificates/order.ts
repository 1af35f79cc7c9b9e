// How owld and the program that orders a certificate speak: JSON lines. Each challenge is answered by `placed` once every
// proxy process would show it; the last line is the certificate, or why there is none.

import type { AcmeConfig } from "../../../config/config.ts";
import type { Challenge } from "../../../config/proxy-feed.ts";

export interface OrderRequest extends AcmeConfig {
  /** PEM. */
  readonly accountKey: string;
  /** How names are shown to be ours where no DNS command is given. */
  readonly by: "http-01" | "tls-alpn-01";
}

export type FromOrder =
  | { readonly type: "challenges"; readonly challenges: readonly Challenge[] }
  /** Chain and key, PEM. */
  | { readonly type: "certificate"; readonly pem: string }
  | { readonly type: "failed"; readonly why: string };

export type ToOrder = { readonly type: "order"; readonly request: OrderRequest } | { readonly type: "placed" };

/** A new P-256 key for an account or a certificate is made by this; authorities and clients all take it. */
export const KEY_KIND = ["ec", { namedCurve: "P-256" }] as const;
