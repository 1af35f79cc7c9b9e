// The proxy replaced under load by its successor on the same descriptor: no request, no connection lost.

import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, request, type Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Feed,
  openFeed,
  PROXY_COMMAND,
  proxySettings,
  startProcess,
  tableOf,
} from "../../support/proxy/process.ts";
import { eventually } from "../../support/proxy/rig.ts";

describe("the proxy", () => {
  let dir: string;
  const servers: Server[] = [];
  const feeds: Feed[] = [];
  const executed: string[] = [];
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "owl-succession-"));
    executed.length = 0;
    for (const id of ["a", "b"]) {
      const server = createServer((asked, answer) => {
        if (asked.url === "/events") {
          answer.writeHead(200, { "content-type": "text/event-stream" });
          answer.write("data: 1\n\n");
          return;
        }
        let body = "";
        asked.on("data", (chunk: Buffer) => {
          body += chunk.toString();
        });
        asked.on("end", () => {
          if (body !== "") executed.push(body);
          answer.end(`${id} ${body}`);
        });
      });
      server.keepAliveTimeout = 60_000;
      await new Promise<void>((resolve) => server.listen(join(dir, `${id}.sock`), () => resolve()));
      servers.push(server);
    }
  });
  afterEach(async () => {
    for (const feed of feeds.splice(0)) {
      try {
        process.kill(feed.pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
      feed.close();
    }
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }
    rmSync(dir, { recursive: true, force: true });
  });

  async function first(): Promise<{ feed: Feed; errors: string[] }> {
    const errors: string[] = [];
    const settings = proxySettings("proxy-1", dir, { drainTimeoutMs: 20_000 });
    startProcess(settings, errors);
    const feed = await openFeed(settings);
    feeds.push(feed);
    feed.send({ type: "table", table: tableOf(1, dir, ["a", "b"]) });
    await feed.next("ack");
    return { feed, errors };
  }

  async function succeed(feed: Feed, id: string): Promise<Feed> {
    const settings = proxySettings(id, dir, { drainTimeoutMs: 20_000 });
    feed.send({ type: "succeed", settings, command: PROXY_COMMAND });
    const { pid } = await feed.next("successor");
    const next = await openFeed(settings);
    feeds.push(next);
    expect(next.pid).toBe(pid);
    return next;
  }

  test("three replacements under load lose nothing and execute every POST once", async () => {
    const { feed, errors } = await first();
    const { port } = feed;
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const failures: string[] = [];
    const sent: string[] = [];
    let on = true;
    const one = (body: string | null, ownConnection: boolean) =>
      new Promise<void>((resolve) => {
        const asked = request(
          {
            host: "127.0.0.1",
            port,
            agent: ownConnection ? false : agent,
            method: body === null ? "GET" : "POST",
            headers: body === null ? {} : { "content-length": body.length },
          },
          (answer) => {
            if (answer.statusCode !== 200) failures.push(`${answer.statusCode} ${body}`);
            answer.resume();
            answer.on("end", () => resolve());
            answer.on("error", (error) => {
              failures.push(error.message);
              resolve();
            });
          },
        );
        asked.on("error", (error: NodeJS.ErrnoException) => {
          // A kept connection that the proxy closed while idle is the client's to try again, as browsers do.
          if (asked.reusedSocket && error.code === "ECONNRESET") one(body, true).then(resolve);
          else {
            failures.push(`${error.message} ${body}`);
            resolve();
          }
        });
        asked.end(body ?? undefined);
      });
    const clients = Array.from({ length: 12 }, async (_, client) => {
      for (let n = 0; on; n++) {
        const body = n % 2 === 0 ? null : `${client}-${n}`;
        if (body !== null) sent.push(body);
        await one(body, client % 3 === 0);
      }
    });
    let current = feed;
    for (const id of ["proxy-2", "proxy-3", "proxy-4"]) {
      const before = sent.length;
      await eventually("there is traffic", () => sent.length > before + 50);
      const old = current;
      current = await succeed(old, id);
      await old.closed;
    }
    const before = sent.length;
    await eventually("the last one serves", () => sent.length > before + 50);
    on = false;
    await Promise.all(clients);
    agent.destroy();
    expect(failures).toEqual([]);
    expect(new Set(executed).size).toBe(executed.length);
    expect(executed.length).toBe(sent.length);
    expect(errors.join("")).not.toMatch(/Error/);
  });

  test("an event stream is moved to the successor, and the old process ends by itself", async () => {
    const { feed } = await first();
    const socket = connect(feed.port, "127.0.0.1");
    let came = "";
    socket.on("data", (chunk: Buffer) => {
      came += chunk.toString();
    });
    const ended = new Promise<void>((resolve) => socket.once("end", () => resolve()));
    socket.write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually("the stream runs", () => came.includes("data: 1"));
    await succeed(feed, "proxy-2");
    await ended;
    expect(came.endsWith("0\r\n\r\n")).toBe(true);
    await feed.closed;
  });

  test("a successor that cannot start changes nothing", async () => {
    const { feed } = await first();
    feed.send({ type: "succeed", settings: proxySettings("proxy-2", dir), command: ["/bin/false"] });
    expect((await feed.next("successorFailed")).reason).toContain("ended at once");
    const answer = await fetch(`http://127.0.0.1:${feed.port}/`);
    expect(answer.status).toBe(200);
  });
});
