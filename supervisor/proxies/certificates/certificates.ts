// What owld does for the certificates that proxies serve by, put together.

import { existsSync } from "node:fs";
import type { Logger } from "pino";
import type { ProxyConfig } from "../../../config/config.ts";
import { inheritedEnv } from "../../../config/instance-env.ts";
import { systemRandom } from "../../../config/system-time.ts";
import type { ProxySet } from "../../ports.ts";
import { createCertificateFiles } from "./files.ts";
import { type CertificateKeeper, createCertificateKeeper, type KeeperParts } from "./keeper.ts";
import { createOrdering } from "./ordering.ts";
import { selfSigned } from "./self-signed.ts";

interface CertificatesParts extends Omit<KeeperParts, "random" | "open" | "order" | "failed"> {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly proxies: Pick<ProxySet, "processes" | "challenge">;
  readonly log: Pick<Logger, "error">;
}

export function createCertificates(parts: CertificatesParts): CertificateKeeper {
  const { proxies, log } = parts;
  return createCertificateKeeper({
    ...parts,
    random: systemRandom,
    open: () => proxies.processes().some(({ state }) => state === "ready"),
    order: createOrdering({ env: orderEnv(parts.environment), challenge: proxies.challenge }),
    failed: (error) => log.error({ err: error }, "the certificate was not looked after"),
  });
}

/**
 * Sees to it that there is a certificate when a proxy starts: until the authority's first one is there, a self-made one
 * serves. So HTTPS answers at once, if with a warning in the browser, and nothing that is secret goes in plain text.
 */
export function standIn({ clock, paths }: Pick<CertificatesParts, "clock" | "paths">, { tls }: ProxyConfig): void {
  const acme = tls?.acme ?? null;
  if (acme === null || existsSync(paths.certificate)) return;
  const { cert, key } = selfSigned(acme.domains, clock.now());
  createCertificateFiles(paths).serve(`${cert}${key}`);
}

/** What every process gets, and how to reach an authority of one's own, or any through a proxy. */
function orderEnv(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const more = ["NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...inheritedEnv(environment), ...Object.fromEntries(more) };
}
