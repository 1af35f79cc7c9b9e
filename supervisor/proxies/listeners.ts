// The listening sockets that proxies inherit from owld: systemd's, and those owld binds and holds itself, so that after
// a crash clients wait in the backlog. Invariant: what systemd gave is never closed; what owld holds is held until no
// proxy is to have it, or until a proxy's successor has to bind it.

import type { ListenAddress, ProxyConfig } from "../../config/config.ts";
import { OwlError } from "../../config/errors.ts";
import { addressName, listenAddresses } from "../../config/proxy-feed.ts";
import { type HeldListener, holdListener } from "../process/held-listeners.ts";

export interface Listeners {
  /** Descriptors in the order of `listenAddresses`, or those addresses that another process listens on. */
  claim(proxy: ProxyConfig): Promise<{ readonly descriptors: readonly number[] } | { readonly taken: Taken }>;
  /** Does owld itself have every listener of it? */
  holds(proxy: ProxyConfig): boolean;
  /** Closes all but those of `proxy`; null: all. */
  closeBut(proxy: ProxyConfig | null): Promise<void>;
}

interface Taken {
  readonly addresses: readonly string[];
  readonly error: OwlError;
}

/** `given`: systemd's descriptors for the first of `addresses`. */
export function createListeners(given: readonly number[], addresses: readonly ListenAddress[]): Listeners {
  const systemd = new Map(given.map((descriptor, index) => [addressName(addresses[index] ?? NOWHERE), descriptor]));
  const held = new Map<string, HeldListener>();

  async function descriptorOf(address: ListenAddress): Promise<number> {
    const name = addressName(address);
    const known = systemd.get(name) ?? held.get(name)?.descriptor;
    if (known !== undefined) return known;
    const listener = await holdListener(address);
    held.set(name, listener);
    return listener.descriptor;
  }

  return {
    async claim(proxy) {
      const descriptors: number[] = [];
      const taken: { readonly address: string; readonly error: OwlError }[] = [];
      for (const address of listenAddresses(proxy)) {
        try {
          descriptors.push(await descriptorOf(address));
        } catch (error) {
          if (!(error instanceof OwlError) || error.code !== "listen.taken") throw error;
          taken.push({ address: addressName(address), error });
        }
      }
      const [first] = taken;
      if (first === undefined) return { descriptors };
      return { taken: { addresses: taken.map(({ address }) => address), error: first.error } };
    },
    holds: (proxy) =>
      listenAddresses(proxy)
        .map(addressName)
        .every((name) => systemd.has(name) || held.has(name)),
    async closeBut(proxy) {
      const kept = new Set(proxy === null ? [] : listenAddresses(proxy).map(addressName));
      const closing = [...held].filter(([name]) => !kept.has(name));
      for (const [name] of closing) held.delete(name);
      await Promise.all(closing.map(([, listener]) => listener.close()));
    },
  };
}

const NOWHERE: ListenAddress = { host: "", port: 0 };
