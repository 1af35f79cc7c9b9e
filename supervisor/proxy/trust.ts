// Whose forwarding headers are believed: the networks of `proxy.trust`.

import { BlockList, isIP } from "node:net";
import { OwlError } from "../../config/errors.ts";

/** A predicate over addresses (IPv4-mapped IPv6 counts as IPv4). Throws OwlError `proxy.badTrust`. */
export function createTrust(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address);
    const prefix = bits === undefined ? (family === 6 ? 128 : 32) : Number(bits);
    if (family === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > (family === 6 ? 128 : 32)) {
      throw new OwlError("proxy.badTrust", `proxy.trust expects a network like 10.0.0.0/8, got ${network}.`);
    }
    list.addSubnet(address, prefix, family === 6 ? "ipv6" : "ipv4");
  }
  return (address) => {
    const plain = plainAddress(address);
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 6 ? "ipv6" : "ipv4");
  };
}

/** An IPv4-mapped IPv6 address as IPv4, anything else as it is. */
export function plainAddress(address: string): string {
  return isMapped(address) ? address.slice(7) : address;
}

function isMapped(address: string): boolean {
  return address.startsWith("::ffff:") && address.includes(".");
}
