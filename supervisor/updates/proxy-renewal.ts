// After an update whose proxy code differs, the proxies are replaced by those of the new release, without loss.

import { createHash } from "node:crypto";
import type { Manifest } from "../core/manifest.ts";
import type { Text } from "../core/text/text.ts";
import type { ProxySet } from "../ports.ts";
import { createReleaseHistory } from "../release/current.ts";
import type { ReleaseFolder } from "../release/folder.ts";
import type { Journal } from "../rollouts/journal.ts";
import { keepFact, readFact } from "../state/facts.ts";
import type { Store } from "../state/store.ts";

interface ProxyRenewalParts {
  readonly store: Store;
  readonly journal: Pick<Journal, "write">;
  readonly record: Text;
  readonly folder: Pick<ReleaseFolder, "running" | "manifest">;
  readonly proxies: Pick<ProxySet, "renew">;
}

export async function renewProxies({ store, journal, record, folder, proxies }: ProxyRenewalParts): Promise<void> {
  const present = proxyCode(await folder.manifest(folder.running));
  const before = readFact(store, "proxy code");
  if (before === present) return;
  if (before !== null || createReleaseHistory(store).current()?.version === folder.running.version) {
    journal.write({ type: "proxy.renewing", service: "proxy", message: record.recorded.update.proxyRenewed });
    proxies.renew(record.recorded.cause.code);
  }
  keepFact(store, "proxy code", present);
}

/** What the proxy's code is: a hash over its files; of code without a manifest only that it has none. */
function proxyCode(manifest: Manifest | null): string {
  if (manifest === null) return "no manifest";
  const code = createHash("sha256");
  for (const [path, file] of Object.entries(manifest.files))
    if (/^(supervisor\/proxy|config|node_modules\/(undici|node-linux-[^/]+))\//.test(path))
      code.update(`${path} ${file.sha256}\n`);
  return code.digest("hex");
}
