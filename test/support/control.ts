// A working small Control: one service `web`, one rollout at a time, events that tests append.

import type { OwlEvent, Rollout, RolloutLine, Status } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import type { Control } from "../../supervisor/control/control.ts";
import { unknownInstance, unknownRollout, unknownService } from "../../supervisor/control/names.ts";

export const AT = "2026-01-02T03:04:05.678Z";

export const STATUS: Status = {
  version: "1.0.0",
  pid: 1,
  startedAt: AT,
  state: "steady",
  release: { version: "1.0.0", path: "/srv/owl" },
  proxy: {
    listen: ["127.0.0.1:8080"],
    processes: [{ id: "proxy-1", pid: 2, state: "ready" }],
    inFlight: 1,
    requests: 10,
    retries: 2,
    failures: 0,
  },
  services: [
    {
      name: "web",
      replicas: 1,
      ready: 1,
      wanted: "up",
      crashLooping: false,
      instances: [
        {
          id: "web-1",
          pid: 3,
          state: "ready",
          release: "1.0.0",
          startedAt: AT,
          restarts: 2,
          inFlight: 1,
          rssBytes: 1_000,
          cpu: 0.5,
          lastExit: { known: true, code: 1, signal: null, at: AT, outOfMemory: "no" },
        },
      ],
    },
  ],
  connections: { limit: 97, maxConnections: 100, steady: 20, surge: 40, open: 5, peak: 7, verdict: "ok" },
  workers: [{ id: "worker-2", state: "active", heartbeatAgeMs: 1_200, jobs: { chat: 1 } }],
  rollout: null,
  warnings: [],
};

export interface FakeControl extends Control {
  emit(event: Partial<OwlEvent>): void;
  endRollout(id: string): void;
  /** Readers of streams that have not ended. */
  readers(): number;
  app: ReturnType<Control["appTarget"]>;
  failStatus: Error | null;
}

export function createFakeControl(): FakeControl {
  const rollouts: Rollout[] = [];
  const events: OwlEvent[] = [];
  const wakers = new Set<() => void>();
  let readers = 0;
  const wake = (): void => {
    for (const waker of [...wakers]) waker();
  };
  const changed = { changed: true, notes: ["done"], rollout: null };
  const known = (name: string): void => {
    if (name !== "web" && name !== "web-1") throw unknownInstance(name, ["web", "web-1"]);
  };
  const byId = (id: string): Rollout => {
    const found = rollouts.find((rollout) => rollout.id === id);
    if (found === undefined)
      throw unknownRollout(
        id,
        rollouts.map((rollout) => rollout.id),
      );
    return found;
  };
  const next = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        wakers.delete(done);
        resolve();
      };
      wakers.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  async function* readEvents(follow: boolean, afterId: number, signal: AbortSignal): AsyncGenerator<OwlEvent> {
    readers++;
    try {
      let after = afterId;
      while (!signal.aborted) {
        for (const event of events.filter(({ id }) => id > after)) {
          after = event.id;
          yield event;
        }
        if (!follow) return;
        await next(signal);
      }
    } finally {
      readers--;
    }
  }
  async function* readRollout(id: string, signal: AbortSignal): AsyncGenerator<RolloutLine> {
    yield { at: AT, rollout: id, service: "web", instance: "web-2", event: "starting", elapsedMs: 0 };
    while (byId(id).state === "running" && !signal.aborted) await next(signal);
    if (!signal.aborted) yield { ...byId(id), rollout: id };
  }
  const plan = {
    changes: true,
    steps: [{ service: "web", action: "start", instance: "web-2" }],
    expectedMs: 1_000,
    worstMs: 2_000,
    peakConnections: 40,
    connectionLimit: 97,
    peakMemoryBytes: null,
    notes: [],
  };

  const control: FakeControl = {
    app: null,
    failStatus: null,
    readers: () => readers,
    emit(event) {
      const id = events.length + 1;
      events.push({
        id,
        at: AT,
        type: "instance.ready",
        service: "web",
        instance: "web-1",
        rollout: null,
        message: `event ${id}`,
        ...event,
      });
      wake();
    },
    endRollout(id) {
      const at = rollouts.findIndex((rollout) => rollout.id === id);
      rollouts[at] = { ...byId(id), state: "succeeded", endedAt: AT };
      wake();
    },
    backUp: async () => undefined,
    tryNotices: async () => ["mail"],
    async status() {
      if (control.failStatus !== null) throw control.failStatus;
      return STATUS;
    },
    async restart(request) {
      const unknown = request.services?.find((name) => name !== "web");
      if (unknown !== undefined) throw unknownService(unknown, ["web"]);
      const running = rollouts.find(({ state }) => state === "running");
      if (running !== undefined) {
        throw new OwlError("rollout.busy", `Rollout ${running.id} is running.`, {
          next: `Watch it: owlctl rollout watch ${running.id}`,
          data: { rollout: running.id },
        });
      }
      const rollout: Rollout = {
        id: `r-${rollouts.length + 1}`,
        kind: "restart",
        state: "running",
        startedAt: AT,
        endedAt: null,
        reason: null,
        steps: [],
      };
      rollouts.unshift(rollout);
      return rollout;
    },
    stageRelease: async () => ({ version: "1.1.0", path: "/releases/1.1.0", already: false, signing: "unknown" }),
    update: async () => byId("r-1"),
    planUpdate: async () => plan,
    deploy: async () => byId("r-1"),
    planDeploy: async () => plan,
    ownReleases: async () => [],
    run: async () =>
      (async function* () {
        yield { stream: "stdout", text: "7" } as const;
      })(),
    rollback: async () => byId("r-1"),
    planRollback: async () => plan,
    planRestart: async () => plan,
    rollouts: async ({ limit }) => rollouts.slice(0, limit),
    rollout: async (id) => byId(id),
    async watchRollout(id, signal) {
      byId(id);
      return readRollout(id, signal);
    },
    async cancelRollout(id) {
      const running = id ?? rollouts.find(({ state }) => state === "running")?.id ?? "";
      const cancelled: Rollout = { ...byId(running), state: "cancelled", endedAt: AT };
      rollouts[rollouts.indexOf(byId(running))] = cancelled;
      wake();
      return cancelled;
    },
    events: async (query, signal) => readEvents(query.follow, query.afterId ?? 0, signal),
    async logs(query) {
      return (async function* () {
        for (const line of ["one", "two"].slice(-(query.lines ?? 2))) yield { instance: "web-1", line, at: null };
      })();
    },
    reload: async () => {
      throw new OwlError("config.invalid", "owl.yaml:3:1: unknown key `repliccas`.", {
        next: "Did you mean replicas?",
      });
    },
    planReload: async () => ({ ...plan, changes: false, steps: [] }),
    async scale(wanted) {
      for (const name of Object.keys(wanted)) if (name !== "web") throw unknownService(name, ["web"]);
      return changed;
    },
    planScale: async () => plan,
    async start(name) {
      known(name);
      return changed;
    },
    async stop(name) {
      known(name);
      return changed;
    },
    async kill(instance) {
      known(instance);
      return { instance, notes: ["1 request was cut."] };
    },
    async why(target) {
      known(target);
      return { target, kind: "service", summary: ["web is ready."], instances: [] };
    },
    preflight: async () => [{ check: "disk", verdict: "OK", found: "10 GiB free", why: "logs", command: "df -h" }],
    config: async () => ({ file: null, config: { model: { apiKey: "***" } } }),
    reexec: async () => undefined,
    appTarget: () => control.app,
  };
  return control;
}
