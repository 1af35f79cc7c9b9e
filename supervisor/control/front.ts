// What others may ask owld: the control socket, and Prometheus's figures there and on a loopback port.

import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { HomePaths } from "../../config/home.ts";
import { createMetricsListener } from "../observe/listener.ts";
import { createMetrics } from "../observe/metrics.ts";
import type { DatabaseService, ProxySet } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { RolloutRunner } from "../rollouts/record.ts";
import type { Control } from "./control.ts";
import { createControlServer } from "./server.ts";

interface FrontParts {
  readonly control: Control;
  readonly proxies: Pick<ProxySet, "counters">;
  readonly database: Pick<DatabaseService, "metastore">;
  readonly journal: Journal;
  readonly rollouts: Pick<RolloutRunner, "totals">;
  readonly log: Logger;
  readonly paths: HomePaths;
  readonly config: Config;
  readonly version: string;
  /** Ends the counting of events. */
  readonly lifetime: AbortController;
}

export interface Front {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createFront(parts: FrontParts): Front {
  const { control, log, config } = parts;
  const metrics = createMetrics({
    status: () => control.status(),
    rollouts: parts.rollouts.totals,
    proxy: parts.proxies.counters,
    work: async () => (await parts.database.metastore()?.work?.()) ?? null,
  });
  const counting = metrics.count(parts.journal.feed.listen(parts.lifetime.signal));
  const listener =
    config.proxy.metrics === null
      ? null
      : createMetricsListener(config.proxy.metrics, metrics.text, (error) =>
          log.error({ err: error }, "the metrics could not be read"),
        );
  const server = createControlServer({
    control,
    socketPath: parts.paths.controlSocket,
    version: parts.version,
    language: () => config.language,
    metrics: metrics.text,
    failed: (error, request) => log.error({ err: error, request }, "a request failed"),
  });
  return {
    async start() {
      await server.start();
      await listener?.start();
    },
    async stop() {
      await listener?.stop();
      await counting;
      await server.stop();
    },
  };
}
