// The proxy's certificate as it lies in its files now: does it fit its key, whom does it name, until when does it hold.

import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { CertificateRenewal, CertificateStatus } from "../../config/certificate-status.ts";
import type { Config } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import { type Clock, isoTime } from "../../config/time.ts";
import { type CertificateFacts, judgeCertificate } from "../core/certificate.ts";
import type { Sentence } from "../core/text/text.ts";

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

/** Changes with either file. */
function stampOf({ proxy: { tls } }: Config): string {
  const files = tls === null ? [] : [tls.cert, tls.key];
  return files
    .map((file) => {
      try {
        const { ino, size, mtimeMs } = statSync(file);
        return `${ino} ${size} ${mtimeMs}`;
      } catch (error) {
        return asError(error).message;
      }
    })
    .join();
}

/** What `status` tells and warns of; files that changed are read again. */
export function createCertificateWatch(
  clock: Clock,
  config: () => Config,
  renewal: () => CertificateRenewal | null,
): { status(): CertificateStatus | null; warnings(): readonly Sentence[] } {
  let seen: { readonly of: Config; readonly stamp: string; readonly facts: CertificateFacts | null } | null = null;
  const look = (): CertificateFacts | null => {
    const of = config();
    const stamp = stampOf(of);
    if (seen?.of !== of || seen.stamp !== stamp) seen = { of, stamp, facts: readCertificate(of) };
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
