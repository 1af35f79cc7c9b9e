// One request through the proxy, as a user would make it: the last look before a new release counts.

import type { ProxyConfig } from "../../config/config.ts";
import { asError, invariant } from "../../config/errors.ts";
import { request as httpRequest } from "../../config/http.ts";
import { Refusal } from "../core/text/refusal.ts";

const SMOKE_MS = 5_000;

class Late extends Error {}

/** Throws `update.smoke` with what came back, or that nothing did. */
export async function askThroughProxy(proxy: ProxyConfig, signal: AbortSignal): Promise<void> {
  const [address] = proxy.listen;
  invariant(address !== undefined, "the proxy listens somewhere");
  // Behind TLS the front is asked by its plain redirect, if there is one; its certificate is not ours to judge.
  if (proxy.tls !== null) return;
  const host = address.host === "0.0.0.0" || address.host === "::" ? "127.0.0.1" : address.host;
  const status = await new Promise<number>((resolve, reject) => {
    const asked = httpRequest(
      { host, port: address.port, path: "/", headers: { host: "localhost" }, signal, timeout: SMOKE_MS },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    asked.on("timeout", () => asked.destroy(new Late()));
    asked.on("error", reject);
    asked.end();
  }).catch((error: unknown) => {
    throw new Refusal("update.smoke", ({ refused: { update } }) =>
      update.smokeFailed(error instanceof Late ? update.smokeLate(SMOKE_MS / 1_000) : asError(error).message),
    );
  });
  if (status === 0 || status >= 500)
    throw new Refusal("update.smoke", ({ refused }) => refused.update.smokeStatus(status));
}
