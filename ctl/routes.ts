// The paths of the control API that owlctl uses, in one place.

const name = encodeURIComponent;

export const ROUTES = {
  status: "/v1/status",
  rollouts: "/v1/rollouts",
  newestRollouts: (limit: number) => `/v1/rollouts?limit=${limit}`,
  planRollout: "/v1/rollouts/plan",
  rollout: (id: string) => `/v1/rollouts/${name(id)}`,
  rolloutEvents: (id: string) => `/v1/rollouts/${name(id)}/events`,
  events: (query: URLSearchParams) => `/v1/events?${query}`,
  logs: (query: URLSearchParams) => `/v1/logs?${query}`,
  reload: "/v1/reload",
  planReload: "/v1/reload/plan",
  scale: "/v1/scale",
  planScale: "/v1/scale/plan",
  start: (target: string) => `/v1/start/${name(target)}`,
  stop: (target: string) => `/v1/stop/${name(target)}`,
  kill: (instance: string) => `/v1/kill/${name(instance)}`,
  why: (target: string) => `/v1/why/${name(target)}`,
  preflight: "/v1/preflight",
  config: "/v1/config",
  reexec: "/v1/reexec",
  backups: "/v1/backups",
  notifyTest: "/v1/notify/test",
  releases: "/v1/releases",
  updates: "/v1/updates",
  planUpdate: "/v1/updates/plan",
  run: "/v1/run",
  deploys: "/v1/deploys",
  planDeploy: "/v1/deploys/plan",
  rollbacks: "/v1/rollbacks",
  planRollback: "/v1/rollbacks/plan",
  /** Passed on to a ready bundled web instance, on paths the proxy never serves. */
  app: (path: string) => `/v1/app${path}`,
} as const;
