// Which route serves a request: the most specific host first, then the longest path prefix.
// A path prefix matches whole segments only: `/api` serves `/api`, `/api/x` and `/api?q`, never `/apix`.

interface RoutePattern {
  readonly host: string;
  readonly path: string;
}

/** The host of a Host header: lower case, without port and without a trailing dot. */
export function hostName(hostHeader: string): string {
  let host = hostHeader;
  if (host.startsWith("[")) {
    const end = host.indexOf("]");
    host = end < 0 ? host : host.slice(0, end + 1);
  } else {
    const colon = host.indexOf(":");
    if (colon >= 0) host = host.slice(0, colon);
  }
  if (host.endsWith(".")) host = host.slice(0, -1);
  return host.toLowerCase();
}

/** The path of a request target: without query, and without scheme and host in absolute form. Never decoded. */
export function pathOf(target: string): string {
  let path = target;
  if (!path.startsWith("/")) {
    const scheme = path.indexOf("://");
    if (scheme < 0) return path;
    const slash = path.indexOf("/", scheme + 3);
    path = slash < 0 ? "/" : path.slice(slash);
  }
  const query = path.indexOf("?");
  return query < 0 ? path : path.slice(0, query);
}

/** The best of `routes` for host and path (see `hostName`, `pathOf`), or null. */
export function matchRoute<R extends RoutePattern>(routes: readonly R[], host: string, path: string): R | null {
  let best: R | null = null;
  let bestScore = -1;
  for (const route of routes) {
    const hostScore = scoreHost(route.host, host);
    if (hostScore < 0 || !pathMatches(route.path, path)) continue;
    const score = hostScore * 100_000 + route.path.length;
    if (score > bestScore) {
      best = route;
      bestScore = score;
    }
  }
  return best;
}

/** -1: no match; 0: `*`; otherwise the longer the pattern, the better; an exact name beats every wildcard. */
function scoreHost(pattern: string, host: string): number {
  if (pattern === "*") return 0;
  const wanted = pattern.toLowerCase();
  if (wanted.startsWith("*.")) {
    const suffix = wanted.slice(1);
    return host.length > suffix.length && host.endsWith(suffix) ? suffix.length : -1;
  }
  return wanted === host ? 10_000 : -1;
}

function pathMatches(prefix: string, path: string): boolean {
  if (prefix === "/" || prefix === "") return true;
  if (!path.startsWith(prefix)) return path.startsWith("*") && prefix === "*";
  return prefix.endsWith("/") || path.length === prefix.length || path.charCodeAt(prefix.length) === 47;
}
