// The proxy as a program of the one loop: by which configuration its processes are to run, how one is launched and
// watched, and what stands in the way. Whether one is started, replaced, retried or ended is decided in core/decide.ts.
// Invariant: a configuration that no proxy can be started by never takes away the one by which it last ran.

import { rmSync } from "node:fs";
import type { Logger } from "pino";
import type { ProxyConfig } from "../../config/config.ts";
import { asError, OwlError } from "../../config/errors.ts";
import { addressName, filesSocket, listenAddresses } from "../../config/proxy-feed.ts";
import { createLoop } from "../../config/running.ts";
import type { Clock } from "../../config/time.ts";
import { type Instance, isServing, PROXY } from "../core/instance.ts";
import type { Text } from "../core/text/text.ts";
import type { InstanceBook } from "../instances/book.ts";
import type { Instances } from "../instances/life.ts";
import type { Program } from "../instances/program.ts";
import type { ProxySet, RunningProcess } from "../ports.ts";
import { logPath } from "../process/log-text.ts";
import type { Store } from "../state/store.ts";
import { standIn } from "./certificates/certificates.ts";
import type { ProxyClient } from "./client.ts";
import { createProxyFeed } from "./feed.ts";
import { endedEarly, feedSocket, launchProxy, namesOf, type ProxyLaunchParts, proxyHash } from "./launch.ts";
import { createListeners } from "./listeners.ts";
import { createSpare } from "./spare.ts";

const TICK_MS = 1_000;
/** Ticks without an answer: then it hangs, or cannot be reached any more. */
const SILENT_TICKS = 10;
/** A new one must listen and have its table within this, on a machine just lost and restored, and busy, too. */
const START_MS = 60_000;
/** A donor that serves says hello within this. */
const GREETING_MS = 2_000;
/** Beyond the drain's own limit, until a process that does not end is killed. */
const DRAIN_SLACK_MS = 5_000;
/** The configuration a proxy last came up by. */
const GOOD = "proxy configuration";

interface ProxySetParts extends ProxyLaunchParts {
  readonly clock: Clock;
  readonly log: Pick<Logger, "error">;
  readonly store: Pick<Store, "all" | "put">;
  readonly book: Pick<InstanceBook, "all" | "get" | "set">;
  readonly life: () => Pick<Instances, "passed" | "failing" | "hurry">;
  /** As it is wanted now. */
  readonly config: () => ProxyConfig;
  /** systemd's listening descriptors in the order of `proxy.listen`; empty: owld binds. */
  readonly listenFds: readonly number[];
  readonly wake: () => void;
  /** The installation's language: whatever is recorded is recorded in it. */
  readonly record: Text;
}

/** How a proxy run by `config` is told to end. */
export function proxyStop({ drainTimeoutMs }: ProxyConfig): Instance["stop"] {
  return { graceMs: drainTimeoutMs + DRAIN_SLACK_MS, signal: "SIGTERM", after: "routed-out" };
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the proxies that live share one map of channels.
export function createProxySet(parts: ProxySetParts): ProxySet & { readonly program: Program } {
  const { book, config, paths } = parts;
  const causes = parts.record.recorded.cause;
  const listeners = createListeners(parts.listenFds, listenAddresses(config()));
  const spare = createSpare(parts);
  const hash = (): string => proxyHash(config());
  const proxies = (): readonly Instance[] => book.all().filter(({ service }) => service === PROXY);
  let closing = false;
  /** The last failure to run by the configuration with that hash. */
  let failure: { readonly hash: string; readonly error: Error } | null = null;
  /** One after another: a donor starts one successor at a time. */
  let launches: Promise<unknown> = Promise.resolve();
  const ticking = createLoop({
    clock: parts.clock,
    everyMs: TICK_MS,
    runOnce: tick,
    failed: (error) => parts.log.error({ err: error }, "the proxies were not looked at"),
  });

  const feed = createProxyFeed(
    {
      clock: parts.clock,
      feedSocket: (id) => feedSocket(parts, id),
      instance: book.get,
      changed: look,
    },
    config().listen.map(addressName),
  );

  function look(id: string): void {
    const instance = book.get(id);
    if (instance === null || instance.wanted === "down" || !feed.isUp(id)) return;
    if (instance.state === "starting" || instance.state === "unhealthy") parts.life().passed(id);
    if (isSettled()) settle();
  }

  function isSettled(): boolean {
    const serving = proxies().filter((one) => isServing(one) && one.configHash === hash());
    return serving.length >= config().processes;
  }

  function settle(): void {
    failure = null;
    const before = good();
    if (before === null || proxyHash(before) !== hash()) {
      parts.store.put("fact", GOOD, config());
      if (before !== null) feed.listen(config().listen.map(addressName));
    }
    if (proxies().every((one) => one.wanted === "down" || one.configHash === hash())) closeBut(config());
  }

  const good = (): ProxyConfig | null => parts.store.all<ProxyConfig>("fact").get(GOOD) ?? null;
  const trouble = (): Error | null => (failure?.hash === hash() ? failure.error : null);

  function closeBut(kept: ProxyConfig | null): Promise<void> {
    return listeners
      .closeBut(kept)
      .catch((error: unknown) => parts.log.error({ err: asError(error) }, "a listener was not closed"));
  }

  function tick(): void {
    for (const id of feed.tick(SILENT_TICKS)) {
      const instance = book.get(id);
      const isConnected = feed.client(id)?.isConnected() === true;
      if (instance?.state === "ready") parts.life().failing(id, isConnected ? causes.hung : causes.unreached);
      // One that is cut off from us may yet finish what it has; it has its grace.
      else if (instance?.state === "draining" && isConnected) parts.life().failing(id, causes.hung);
    }
    for (const { id } of proxies()) look(id);
    keepSpare();
  }

  /** Where the listeners are only the proxies', one of an earlier owld has a spare that holds them too. */
  function keepSpare(): void {
    const names = namesOf(config());
    if (closing || listeners.holds(config())) spare.end();
    else
      for (const one of proxies()) {
        const client = isServing(one) ? feed.client(one.id) : null;
        if (client?.hello()?.addresses?.join(" ") !== names) continue;
        // In vain, it is asked for again.
        void spare.keep(client, names).catch(() => undefined);
        break;
      }
  }

  /** By the wanted configuration, unless that was just tried in vain and this one only fills its place again. */
  function configFor(instance: Instance): ProxyConfig {
    const isSuccessor = instance.replaces !== null && book.get(instance.replaces)?.wanted === "up";
    return isSuccessor || trouble() === null ? config() : (good() ?? config());
  }

  async function launch(instance: Instance, note: Parameters<Program["launch"]>[1]): Promise<RunningProcess> {
    if (closing) throw new OwlError("supervisor.stopping", "owld is stopping.");
    const { id } = instance;
    const by = configFor(instance);
    note({ configHash: proxyHash(by), stop: proxyStop(by) });
    try {
      standIn(parts, by);
      const clients = listeners.holds(by) ? [] : await donors();
      return await launchProxy(parts, { id, proxy: by, awaitsTable: feed.hasTable() }, listeners, clients, spare);
    } catch (error) {
      failed(proxyHash(by), asError(error));
      throw error;
    }
  }

  /** Those that serve, or may without our knowing; just adopted ones are given a moment to say hello. */
  async function donors(): Promise<readonly ProxyClient[]> {
    const clients = proxies()
      .filter(({ wanted }) => wanted === "up")
      .toSorted((a, b) => Number(isServing(b)) - Number(isServing(a)))
      .flatMap(({ id }) => feed.client(id) ?? []);
    const greeted = feed.until(() => clients.every((client) => client.hello() !== null));
    await Promise.race([greeted, parts.clock.sleep(GREETING_MS)]).catch(() => undefined);
    return clients;
  }

  function failed(by: string, error: Error): void {
    if (by === hash()) failure = { hash: by, error };
    feed.look();
  }

  const program: Program = {
    blueprint: () => ({ release: parts.release, configHash: hash(), target: null, stop: proxyStop(config()) }),
    launch(instance, note) {
      const turn = launches.then(() => launch(instance, note));
      launches = turn.catch(() => undefined);
      return turn;
    },
    watch({ id }, process) {
      ticking.start();
      // One that is no child of ours may have a table already.
      feed.add(id, process, process.look !== undefined);
    },
    signal({ id, identity }) {
      // SIGTERM means the same to it, and needs no feed.
      if (feed.client(id)?.send({ type: "drain" }) !== true && identity !== null)
        parts.table.signalLeader(identity, "SIGTERM");
    },
    gone: ({ id }) => feed.remove(id),
    cleanUp({ id }) {
      const socket = feedSocket(parts, id);
      for (const path of [socket, filesSocket(socket)]) rmSync(path, { force: true });
    },
    isRouted: () => false,
    graceMs: () => null,
    startMs: () => START_MS,
    unhealthyMs: 0,
    unhealthyCause: causes.unreached,
    // Cut off only, it may serve well: unless its listeners are needed back, its successor comes first.
    isDeaf: ({ id }) => feed.client(id)?.isConnected() === true || !listeners.holds(config()),
    lastCheck: () => null,
    lastWords({ id, configHash }) {
      const error = endedEarly(id, logPath(paths.logs, id));
      failed(configHash, error);
      return `${error.message.replace(`${id} `, "It ")} ${error.next ?? ""}`;
    },
  };

  return {
    program,
    publish: feed.publish,
    challenge: feed.challenge,
    idle: feed.idle,
    moveStreams: feed.moveStreams,
    refresh: feed.refresh,
    counters: feed.counters,
    tallies: feed.tallies,
    listening: feed.listening,
    processes: () =>
      proxies().flatMap(({ id, identity, state }) =>
        identity === null || state === "backoff" ? [] : [{ id, pid: identity.pid, state }],
      ),
    wanted: (proxy) => ({ processes: proxy.processes, configHash: proxyHash(proxy) }),
    trouble,
    async settled() {
      failure = null;
      parts.life().hurry(PROXY);
      parts.wake();
      await feed.until(() => {
        const error = trouble();
        if (error !== null) throw error;
        return isSettled();
      });
    },
    renew(cause) {
      for (const { id, wanted } of proxies()) if (wanted === "up") book.set(id, { replaceCause: cause });
    },
    async closeDoor() {
      closing = true;
      spare.end();
      await closeBut(null);
    },
    async letGo() {
      await ticking.stop();
      feed.letGo(new OwlError("supervisor.stopping", "owld let go of the proxy."));
      spare.end();
      await closeBut(null);
    },
  };
}
