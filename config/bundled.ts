// The bundled application as service entries: what owl.yaml would have to say to run it as a team's own.

import { join } from "node:path";
import type { ProxyLimits, ServiceConfig } from "./config.ts";
import { DEFAULTS } from "./defaults.ts";

interface BundledFigures {
  readonly root: string;
  /** The Node that belongs to `root`. */
  readonly node: string;
  readonly home: string;
  readonly graceMs: number;
  readonly limits: ProxyLimits;
  readonly user: string | null;
  readonly web: BundledSize;
  readonly worker: BundledSize;
}

interface BundledSize {
  readonly replicas: number;
  readonly pool: number;
  readonly memoryLimitBytes: number | null;
}

/** web, then worker: the order of rollouts. The worker listens on its own socket for /readyz only, so it has no routes. */
export function bundledServices(figures: BundledFigures): readonly ServiceConfig[] {
  const { root, node, home, graceMs, limits, user } = figures;
  // Compiled code kept in the home makes an instance ready in a fifth of the time. Another user could not write there.
  const cache: Record<string, string> = user === null ? { NODE_COMPILE_CACHE: join(home, "cache", "node") } : {};
  const common = {
    cwd: root,
    env: cache,
    user,
    umask: null,
    listen: "socket",
    health: {
      check: { kind: "http", path: "/readyz" },
      intervalMs: DEFAULTS.health.intervalMs,
      timeoutMs: DEFAULTS.health.timeoutMs,
    },
    // The bundled web ends its own event streams on SIGTERM, so it gets the signal as soon as it is out of the table.
    stop: { graceMs, signal: "SIGTERM", after: "routed-out" },
    bundled: true,
  } as const;
  return [
    {
      ...common,
      name: "web",
      command: [node, join(root, "services/web/main.ts")],
      replicas: figures.web.replicas,
      routes: [
        { host: "*", path: "/api/uploads", bodyBytes: limits.uploadBytes },
        { host: "*", path: "/", bodyBytes: null },
      ],
      connections: figures.web.pool + DEFAULTS.listeners.web,
      memoryLimitBytes: figures.web.memoryLimitBytes,
    },
    {
      ...common,
      name: "worker",
      command: [node, join(root, "services/worker/main.ts")],
      replicas: figures.worker.replicas,
      routes: [],
      connections: figures.worker.pool + DEFAULTS.listeners.worker,
      memoryLimitBytes: figures.worker.memoryLimitBytes,
    },
  ];
}
