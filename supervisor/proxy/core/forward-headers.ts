// Headers on their way through: hop-by-hop ones removed, forwarding ones set. Flat lists: name, value, name, value.
// Invariant: framing headers are never copied here; whoever frames the message adds its own.

export type FlatHeaders = readonly string[];

/** Never forwarded, whatever Connection says. Framing (Content-Length) is decided by the caller. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "transfer-encoding",
  "upgrade",
]);

/** A Connection header cannot name these away: without them the request would mean something else. */
const PROTECTED: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "content-type",
  "expect",
  "cookie",
  "authorization",
]);

export interface ClientFacts {
  readonly address: string;
  readonly scheme: "http" | "https";
  readonly host: string;
  /** The client is in a network of `proxy.trust`. */
  readonly trusted: boolean;
  /** Fresh id, taken when the client's own is not believed or absent. */
  readonly newRequestId: () => string;
}

/** Lower-case tokens of all Connection headers. */
export function connectionTokens(headers: FlatHeaders): readonly string[] {
  let tokens: string[] | null = null;
  for (let at = 0; at < headers.length; at += 2) {
    if (!equalsIgnoreCase(headers[at] ?? "", "connection")) continue;
    tokens ??= [];
    for (const token of (headers[at + 1] ?? "").split(",")) {
      const clean = token.trim().toLowerCase();
      if (clean !== "") tokens.push(clean);
    }
  }
  return tokens ?? [];
}

/** Request headers for the upstream, without framing, Connection and Upgrade; and the request's id. */
export function forwardRequestHeaders(
  headers: FlatHeaders,
  client: ClientFacts,
): { readonly headers: string[]; readonly requestId: string } {
  const named = connectionTokens(headers);
  const out: string[] = [];
  let forwardedFor = "";
  let forwarded = "";
  let requestId = "";
  let proto = "";
  let host = "";
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    const value = headers[at + 1] ?? "";
    const lower = name.toLowerCase();
    if (isHop(lower, named)) continue;
    if (
      lower.startsWith("x-forwarded-") ||
      lower === "forwarded" ||
      lower === "x-request-id" ||
      lower === "x-real-ip"
    ) {
      if (!client.trusted) continue;
      if (lower === "x-forwarded-for") forwardedFor = join(forwardedFor, value);
      else if (lower === "forwarded") forwarded = join(forwarded, value);
      else if (lower === "x-request-id") requestId = value;
      else if (lower === "x-forwarded-proto") proto = value;
      else if (lower === "x-forwarded-host") host = value;
      else out.push(name, value);
      continue;
    }
    out.push(name, value);
  }
  if (!isRequestId(requestId)) requestId = client.newRequestId();
  out.push(
    "X-Forwarded-For",
    join(forwardedFor, client.address),
    "X-Forwarded-Proto",
    proto || client.scheme,
    "X-Forwarded-Host",
    host || client.host,
    "Forwarded",
    join(forwarded, forwardedElement(client)),
    "X-Request-Id",
    requestId,
  );
  return { headers: out, requestId };
}

/** Response headers for the client, without framing and Connection. */
export function forwardResponseHeaders(headers: FlatHeaders): string[] {
  const named = connectionTokens(headers);
  const out: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    if (!isHop(name.toLowerCase(), named)) out.push(name, headers[at + 1] ?? "");
  }
  return out;
}

/** First value of `name` (lower case) or null. */
export function headerValue(headers: FlatHeaders, name: string): string | null {
  for (let at = 0; at < headers.length; at += 2) {
    if (equalsIgnoreCase(headers[at] ?? "", name)) return headers[at + 1] ?? "";
  }
  return null;
}

/** RFC 7239 element for this hop; an IPv6 address is quoted and bracketed. */
export function forwardedElement(client: Pick<ClientFacts, "address" | "host" | "scheme">): string {
  const node = client.address.includes(":") ? `"[${client.address}]"` : client.address;
  const host = /^[\w.-]+$/.test(client.host) ? client.host : `"${client.host.replace(/["\\]/g, "")}"`;
  return client.host === "" ? `for=${node};proto=${client.scheme}` : `for=${node};host=${host};proto=${client.scheme}`;
}

function isHop(lower: string, named: readonly string[]): boolean {
  return HOP_BY_HOP.has(lower) || (named.length > 0 && named.includes(lower) && !PROTECTED.has(lower));
}

function isRequestId(value: string): boolean {
  return value.length > 0 && value.length <= 200 && /^[\x21-\x7e]+$/.test(value);
}

function join(before: string, value: string): string {
  return before === "" ? value : `${before}, ${value}`;
}

function equalsIgnoreCase(name: string, lower: string): boolean {
  return name.length === lower.length && name.toLowerCase() === lower;
}
