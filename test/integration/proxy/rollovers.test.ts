// Real processes replaced under a load that audits itself: the web instances three times, then the proxy. Small here;
// `npm run bench -- rollovers` does 100,000 requests over 20 restarts.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Rollout } from "../../../config/control-api.ts";
import { createOwldHome, type OwldHome, program } from "../../support/owld.ts";
import { poll } from "../../support/poll.ts";
import { auditPosts, startRolloverLoad } from "../../support/rollovers/load.ts";

const REQUESTS = 2_000;
const RESTARTS = 3;

describe("the proxy", () => {
  let home: OwldHome | null = null;
  afterEach(async () => {
    await home?.cleanUp();
    home = null;
  });

  test(`${REQUESTS} requests, event streams and WebSockets over ${RESTARTS} restarts and a replacement of the proxy: nothing fails`, async () => {
    home = await createOwldHome("");
    const { port, configFile } = home;
    const counts = join(home.home, "counts");
    mkdirSync(counts);
    const configure = (queueTimeout: string) =>
      writeFileSync(
        configFile,
        `proxy: {listen: "127.0.0.1:${port}", queueTimeout: ${queueTimeout}}
stop: {grace: 30s}
turn: {finish: 10s, wrapUp: 5s}
services:
  web: {command: ["${process.execPath}", "${program("rollover-web.ts")}"], replicas: 2, routes: [{path: "/"}], health: {http: /readyz}, env: {COUNT_DIR: "${counts}"}}
`,
      );
    configure("5s");
    const owld = home.start();
    const before = await owld.until(({ state }) => state === "steady");
    const load = startRolloverLoad({ port, clients: 4, streams: 4, sockets: 4 });
    for (let restart = 1; restart <= RESTARTS; restart++) {
      const { body } = await owld.ask<Rollout>("POST", "/v1/rollouts", { kind: "restart" });
      await owld.until((status) => status.rollout === null);
      expect((await owld.ask<Rollout>("GET", `/v1/rollouts/${body.id}`)).body.state).toBe("succeeded");
      await poll(() => load.requests() >= (REQUESTS * restart) / RESTARTS);
    }
    // Two instances, each replaced three times: whoever was connected has been moved.
    await poll(() => load.leastMoves().streams > 0 && load.leastMoves().sockets > 0);
    const moved = load.leastMoves();
    configure("6s");
    expect((await owld.ask("POST", "/v1/reload")).status).toBe(202);
    const old = before.proxy.processes[0]?.pid;
    await owld.until(({ proxy }) => proxy.processes.every(({ pid }) => pid !== old));
    await poll(() => load.leastMoves().streams > moved.streams && load.leastMoves().sockets > moved.sockets);

    const figures = await load.stop();
    expect(figures.failures).toEqual([]);
    const { executed, twice, lost } = auditPosts(counts, figures.posted);
    expect({ twice, lost }).toEqual({ twice: [], lost: [] });
    expect(executed).toBe(figures.posts);
    expect(figures.gets + figures.posts).toBeGreaterThanOrEqual(REQUESTS);
  });
});
