// The proxy's certificate as it lies in its files now: does it fit its key, whom does it name, until when does it hold.

import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { CertificateRenewal, CertificateStatus } from "../../config/certificate-status.ts";
import type { Config } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import { type Clock, isoTime } from "../../config/time.ts";
import { type CertificateFacts, judgeCertificate } from "../core/certificate.ts";
import type { Sentence } from "../core/text/text.ts";

const LOOK_MS = 30_000;

/** null: no TLS is asked for. Reads only. */
export function readCertificate({ proxy: { tls }, services }: Config): CertificateFacts | null {
  // Ordered, and nothing served by it yet: the first proxy makes one that stands in.
  if (tls === null || (tls.acme !== null && !existsSync(tls.cert))) return null;
  const hosts = new Set(
    services.flatMap(({ routes }) => routes.map(({ host }) => host)).filter((host) => host !== "*"),
  );
  try {
    const cert = readFileSync(tls.cert);
    createSecureContext({ cert, key: readFileSync(tls.key) });
    const leaf = new X509Certificate(cert);
    const names = (host: string): boolean => leaf.checkHost(host.replace("*.", "x.")) !== undefined;
    return {
      path: tls.cert,
      problem: null,
      standIn: tls.acme !== null && leaf.verify(leaf.publicKey),
      unnamed: [...hosts].filter((host) => !names(host)),
      fromMs: Date.parse(leaf.validFrom),
      untilMs: Date.parse(leaf.validTo),
    };
  } catch (caught) {
    const error = asError(caught) as NodeJS.ErrnoException;
    const mismatch = error.code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH";
    return {
      path: tls.cert,
      problem: mismatch ? { kind: "key", key: tls.key } : { kind: "unusable", why: error.message },
    };
  }
}

/** What `status` tells and warns of; the files are looked at again every half a minute at most, ordered ones each time. */
export function createCertificateWatch(
  clock: Clock,
  config: () => Config,
  renewal: () => CertificateRenewal | null,
): { status(): CertificateStatus | null; warnings(): readonly Sentence[] } {
  let seen: { readonly of: Config; readonly atMs: number; readonly facts: CertificateFacts | null } | null = null;
  const look = (): CertificateFacts | null => {
    const of = config();
    const now = clock.monotonicMs();
    if (seen === null || seen.of !== of || now - seen.atMs >= LOOK_MS || of.proxy.tls?.acme !== null)
      seen = { of, atMs: now, facts: readCertificate(of) };
    return seen.facts;
  };
  return {
    status() {
      const facts = look();
      if (facts === null) return null;
      const usable = facts.problem === null ? facts : null;
      const until = usable === null ? null : isoTime(usable.untilMs);
      return { until, standIn: usable?.standIn === true, renewal: renewal() };
    },
    warnings() {
      const facts = look();
      const failing = renewal();
      const said: Sentence[] = [];
      if (failing !== null && failing.failures > 0) {
        const { domains, failures, why, nextAt } = failing;
        said.push((t) => t.warnings.renewal(domains.join(", "), failures, why ?? t.recorded.exit.unknown, nextAt));
      }
      if (facts === null) return said;
      const { verdict, found } = judgeCertificate(facts, clock.now());
      if (verdict !== "OK") said.push(({ warnings, preflight }) => warnings.certificate(found(preflight)));
      return said;
    },
  };
}
