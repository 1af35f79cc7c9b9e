// Where the HTTP tool may connect to: public addresses, and what `tools.http.allow` of owl.yaml names.
// Invariant: it is the address of the connection that is judged, after the name was resolved and by the very look-up the
// connection uses, so that a name that resolves otherwise a moment later leads nowhere else.

import { lookup as systemLookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

export interface Reach {
  /** May a connection go to this address, which `host` (as in the URL) stands for? */
  allows(host: string, port: number, address: string): boolean;
  /** A look-up that gives the addresses of a name which may be connected to, and fails where none may. */
  lookup(port: number): LookupFunction;
}

/** IANA's special-purpose networks: none of them is the public Internet. */
const SPECIAL = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24",
  "192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4",
  // Of IPv6 only 2000::/3 is given out at all. Those in it that carry an IPv4 address (6to4, Teredo) are closed whole.
  "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20",
].flatMap((line) => line.split(" "));

/** By family: one list for both would take every IPv4 address for a mapped one. */
interface Networks {
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");

function networksOf(texts: readonly string[]): Networks {
  const networks: Networks = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of texts) {
    const [address = "", bits] = text.split("/");
    const family = familyOf(address);
    networks[family].addSubnet(address, bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits), family);
  }
  return networks;
}

const special = networksOf(SPECIAL);

function holds(networks: Networks, address: string): boolean {
  const family = familyOf(address);
  return networks[family].check(address, family);
}

/** An IPv4 address in IPv6 clothes as what it is. */
function plain(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}

export function createReach(allow: readonly string[]): Reach {
  const isNetwork = (one: string) => isIP(one.split("/")[0] ?? "") !== 0;
  const networks = networksOf(allow.filter(isNetwork));
  const hosts = new Set(allow.filter((one) => !isNetwork(one)).map((one) => one.toLowerCase()));

  function allows(host: string, port: number, raw: string): boolean {
    const address = plain(raw);
    if (isIP(address) === 0) return false;
    if (!holds(special, address) || holds(networks, address)) return true;
    const name = host.toLowerCase().replace(/\.$/, "");
    return hosts.has(name) || hosts.has(`${name}:${port}`);
  }

  return {
    allows,
    lookup: (port) => (host, options, done) => {
      systemLookup(host, { ...options, all: true }, (error, found) => {
        if (error) return done(error, []);
        const open = found.filter(({ address }) => allows(host, port, address));
        if (open.length === 0) return done(new Error(notAllowed(host, port)), []);
        if (options.all) return done(null, open);
        return done(null, open[0]?.address ?? "", open[0]?.family);
      });
    },
  };
}

/** The sentence for whoever may not reach it. */
export function notAllowed(host: string, port: number): string {
  return `${host}:${port} is inside a private network; an administrator can allow it (tools.http.allow in owl.yaml)`;
}
