// Keeps the ordered certificate: sees when one is due, orders it, puts it where the proxies read it.
// Invariant: an order is on record before the authority hears of it; what serves is replaced only by a certificate that
// can be used and has every name, so a failure leaves the old one in use.

import { createHash } from "node:crypto";
import type { CertificateRenewal } from "../../../config/certificate-status.ts";
import type { AcmeConfig, ProxyConfig } from "../../../config/config.ts";
import { asError, OwlError } from "../../../config/errors.ts";
import type { HomePaths } from "../../../config/home.ts";
import { createLoop, type Running } from "../../../config/running.ts";
import { type Clock, isoTime, type Random } from "../../../config/time.ts";
import { type NextOrder, nextOrder, type OrderRecord, withOrder } from "../../core/renewal.ts";
import type { Recorded } from "../../core/text/text.ts";
import type { Journal } from "../../rollouts/journal.ts";
import { keepFact, readFact } from "../../state/facts.ts";
import type { Store } from "../../state/store.ts";
import { createCertificateFiles, readServed } from "./files.ts";
import type { Ordering } from "./ordering.ts";

const LOOK_MS = 5_000;
/** With a DNS command that waits for each of many names. */
const LONGEST_ORDER_MS = 3_600_000;

export interface KeeperParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly paths: Pick<HomePaths, "certificates" | "certificate">;
  readonly store: Pick<Store, "all" | "put">;
  readonly journal: Pick<Journal, "write">;
  readonly record: { readonly recorded: Recorded };
  readonly config: () => ProxyConfig;
  /** A proxy serves, so that the authority finds somebody. */
  readonly open: () => boolean;
  readonly order: Ordering;
  readonly failed: (error: Error) => void;
}

export interface CertificateKeeper extends Running {
  /** Orders when one is due. */
  runOnce(signal: AbortSignal): Promise<void>;
  /** null: none is ordered by this configuration. */
  renewal(): CertificateRenewal | null;
}

export function createCertificateKeeper(parts: KeeperParts): CertificateKeeper {
  const { clock, store } = parts;
  const files = createCertificateFiles(parts.paths);
  const orders = (): readonly OrderRecord[] => readFact(store, "certificate orders") ?? [];
  const note = (order: OrderRecord) => keepFact(store, "certificate orders", withOrder(orders(), order));

  function next(acme: AcmeConfig): NextOrder {
    const subject = subjectOf(acme);
    const served = files.served();
    const fits = readFact(store, "certificate subject") === subject && acme.domains.every((one) => served?.names(one));
    const held = served === null || served.standIn ? null : { ...served, fits };
    return nextOrder({ subject, held, orders: orders(), nowMs: clock.now() });
  }

  async function runOnce(signal: AbortSignal): Promise<void> {
    const { tls } = parts.config();
    if (tls === null || tls.acme === null || !parts.open()) return;
    if (clock.now() < next(tls.acme).atMs) return;
    const { acme } = tls;
    const begun = { subject: subjectOf(acme), at: clock.now(), jitter: parts.random.float() };
    note({ ...begun, outcome: "begun" });
    const deadline = new AbortController();
    const cancel = clock.after(LONGEST_ORDER_MS, () =>
      deadline.abort(new OwlError("certificate.failed", `no end within ${LONGEST_ORDER_MS / 60_000} minutes`)),
    );
    const names = acme.domains.join(", ");
    const words = parts.record.recorded.certificate;
    try {
      const pem = await parts.order(
        {
          ...acme,
          accountKey: files.accountKey(acme.directory),
          by: tls.redirectFrom === null ? "tls-alpn-01" : "http-01",
        },
        AbortSignal.any([signal, deadline.signal]),
      );
      const made = readServed(pem);
      if (made === null || !acme.domains.every(made.names))
        throw new OwlError("certificate.failed", "what the authority sent cannot be used for all names");
      files.serve(pem);
      keepFact(store, "certificate subject", begun.subject);
      note({ ...begun, outcome: "issued" });
      parts.journal.write({ type: "certificate.issued", message: words.issued(names, isoTime(made.untilMs)) });
    } catch (caught) {
      // Ended by us, it stays begun; the next owld goes on from that.
      if (signal.aborted) throw caught;
      const why = asError(deadline.signal.aborted ? deadline.signal.reason : caught).message;
      note({ ...begun, outcome: "failed", why });
      const again = isoTime(next(acme).atMs);
      parts.journal.write({ type: "certificate.failed", message: words.failed(names, why, again) });
    } finally {
      cancel();
    }
  }

  return {
    runOnce,
    renewal() {
      const acme = parts.config().tls?.acme ?? null;
      if (acme === null) return null;
      const { atMs, failures } = next(acme);
      const why = failures === 0 ? null : (orders().at(-1)?.why ?? null);
      return { domains: acme.domains, nextAt: isoTime(Math.max(atMs, clock.now())), failures, why };
    },
    ...createLoop({ clock, everyMs: LOOK_MS, atOnce: true, runOnce, failed: parts.failed }),
  };
}

/** Changed, it is another certificate. */
function subjectOf({ directory, domains }: AcmeConfig): string {
  const text = [directory, ...domains.toSorted()].join(" ");
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
