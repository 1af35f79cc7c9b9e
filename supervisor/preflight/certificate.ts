// The proxy's certificate as it lies in its files now: does it fit its key, whom does it name, until when does it hold.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Config } from "../../config/config.ts";
import { asError } from "../../config/errors.ts";
import type { Clock } from "../../config/time.ts";
import { type CertificateFacts, judgeCertificate } from "../core/certificate.ts";
import type { Sentence } from "../core/text/text.ts";

const LOOK_MS = 30_000;

/** null: no TLS is asked for. Reads only. */
export function readCertificate({ proxy: { tls }, services }: Config): CertificateFacts | null {
  if (tls === null) return null;
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

/** What `status` warns of; the files are looked at again every half a minute at most. */
export function createCertificateWarning(clock: Clock, config: () => Config): () => readonly Sentence[] {
  let seen: { readonly of: Config; readonly atMs: number; readonly facts: CertificateFacts | null } | null = null;
  return () => {
    const of = config();
    const now = clock.monotonicMs();
    if (seen === null || seen.of !== of || now - seen.atMs >= LOOK_MS)
      seen = { of, atMs: now, facts: readCertificate(of) };
    if (seen.facts === null) return [];
    const { verdict, found } = judgeCertificate(seen.facts, clock.now());
    return verdict === "OK" ? [] : [({ warnings, preflight }) => warnings.certificate(found(preflight))];
  };
}
