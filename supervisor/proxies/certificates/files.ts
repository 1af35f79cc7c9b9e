// What is kept in OWL_HOME/certificates: the file the proxies serve by, and a key for each authority's account.
// Invariant: a file is replaced whole or not at all, and none is ever readable by others.

import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import type { HomePaths } from "../../../config/home.ts";
import { replaceFile } from "../../release/sync.ts";
import { KEY_KIND } from "./order.ts";

interface ServedCertificate {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly standIn: boolean;
  names(domain: string): boolean;
}

/** Chain and key; null: none that could be used. */
export function readServed(pem: string): ServedCertificate | null {
  try {
    createSecureContext({ cert: pem, key: pem });
    const leaf = new X509Certificate(pem);
    return {
      fromMs: Date.parse(leaf.validFrom),
      untilMs: Date.parse(leaf.validTo),
      standIn: leaf.verify(leaf.publicKey),
      // Of the names a wildcard stands for, any one.
      names: (domain) => leaf.checkHost(domain.replace("*.", "x.")) !== undefined,
    };
  } catch {
    return null;
  }
}

export function createCertificateFiles({ certificates, certificate }: Pick<HomePaths, "certificates" | "certificate">) {
  function write(path: string, text: string): void {
    mkdirSync(certificates, { recursive: true, mode: 0o700 });
    replaceFile(path, text);
  }
  return {
    served: (): ServedCertificate | null =>
      existsSync(certificate) ? readServed(readFileSync(certificate, "utf8")) : null,
    serve: (pem: string) => write(certificate, pem),
    /** Of the account at that authority, made when it is first asked for. */
    accountKey(directory: string): string {
      const path = join(
        certificates,
        `account-${createHash("sha256").update(directory).digest("hex").slice(0, 16)}.pem`,
      );
      if (!existsSync(path)) {
        const { privateKey } = generateKeyPairSync(...KEY_KIND);
        write(path, String(privateKey.export({ type: "pkcs8", format: "pem" })));
      }
      return readFileSync(path, "utf8");
    },
  };
}
