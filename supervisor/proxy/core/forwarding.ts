// The forwarding headers of this hop: X-Forwarded-For/Proto/Host, Forwarded, X-Request-Id.

import type { RequestScan } from "./request-head.ts";

export interface ClientFacts {
  readonly address: string;
  readonly scheme: "http" | "https";
}

/** The id to use: the client's own when it was believed and is a plain token, else `fresh()`. */
export function requestIdOf(scan: RequestScan, fresh: () => string): string {
  const { requestId } = scan;
  return requestId !== "" && requestId.length <= 200 && /^[\x21-\x7e]+$/.test(requestId) ? requestId : fresh();
}

/** The lines of a connection's last request: most send one Host only, and then they differ by the request id alone. */
export interface ForwardingMemo {
  host: string | null;
  lines: string;
}

/**
 * What is believed of an X-Forwarded-For that a trusted proxy sent: the chain from the last address on that is not a
 * trusted proxy's own. What stands before it is that client's word, and would name anybody.
 */
export function believedChain(chain: string, isTrusted: (address: string) => boolean): string {
  const elements = chain.split(",").map((element) => element.trim());
  let at = elements.length - 1;
  while (at > 0 && isTrusted(addressOf(elements[at] ?? ""))) at--;
  return elements.slice(at).join(", ");
}

/** Some write the port as well: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressOf(element: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(element)?.[1] ?? /^([\d.]+):\d+$/.exec(element)?.[1] ?? element;
}

/** The header lines of this hop, each with CRLF. `memo` belongs to the client's connection. */
export function forwardingLines(
  client: ClientFacts,
  scan: RequestScan,
  requestId: string,
  memo: ForwardingMemo,
): string {
  const saidBefore = scan.forwardedFor + scan.forwardedProto + scan.forwardedHost + scan.forwarded !== "";
  if (saidBefore) return linesOf(forwardingFlat(client, scan, requestId));
  if (memo.host !== scan.host) {
    memo.lines = [linesOf(forwardingFlat(client, scan, "").slice(0, -2)), "X-Request-Id: "].join("");
    memo.host = scan.host;
  }
  return `${memo.lines}${requestId}\r\n`;
}

/** Header lines of name, value, ... Joined, not added up: what is kept of it (the memo) is one flat string. */
export function linesOf(flat: readonly string[]): string {
  const lines: string[] = [];
  for (let at = 0; at < flat.length; at += 2) lines.push(`${flat[at]}: ${flat[at + 1]}\r\n`);
  return lines.join("");
}

/** The same as a flat list. What a trusted client said comes before our own element. */
export function forwardingFlat(client: ClientFacts, scan: RequestScan, requestId: string): string[] {
  const element = forwardedElement(client, scan.host);
  return [
    "X-Forwarded-For",
    scan.forwardedFor === "" ? client.address : `${scan.forwardedFor}, ${client.address}`,
    "X-Forwarded-Proto",
    scan.forwardedProto === "" ? client.scheme : scan.forwardedProto,
    "X-Forwarded-Host",
    scan.forwardedHost === "" ? scan.host : scan.forwardedHost,
    "Forwarded",
    scan.forwarded === "" ? element : `${scan.forwarded}, ${element}`,
    "X-Request-Id",
    requestId,
  ];
}

/** RFC 7239: an IPv6 address is quoted and bracketed, a host that is no token is quoted. */
function forwardedElement(client: ClientFacts, host: string): string {
  const node = client.address.includes(":") ? `"[${client.address}]"` : client.address;
  if (host === "") return `for=${node};proto=${client.scheme}`;
  const quoted = /^[\w.-]+$/.test(host) ? host : `"${host}"`;
  return `for=${node};host=${quoted};proto=${client.scheme}`;
}
