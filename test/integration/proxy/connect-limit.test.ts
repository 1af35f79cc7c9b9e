// Upstreams on TCP whose handshake never ends: only the connect limit tells. Tried once each, then the next; 504 when
// every one timed out, 502 when one refused.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ProxyUpstream } from "../../../config/proxy-feed.ts";
import { systemClock } from "../../../config/system-time.ts";
import { program } from "../../support/owld.ts";
import { echoScript, header, readAnswers } from "../../support/proxy/messages.ts";
import { type Rig, startRig } from "../../support/proxy/rig.ts";
import { steadyPort } from "../../support/steady-port.ts";

const GET = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const POST = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
/** As long as a connection that can be made may take here before it counts as one that cannot. */
const PENDING_MS = 1_000;

interface Mute {
  readonly port: number;
  stop(): void;
}

/** Starts one and fills its backlog, until a handshake hangs. */
async function startMute(): Promise<Mute> {
  const child: ChildProcess = spawn(process.execPath, [program("never-accepts.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = child.stdout === null ? [""] : await once(child.stdout, "data");
  const port = Number(String(line));
  const sockets: Socket[] = [];
  for (let pending = 0; pending < 3; ) {
    const socket = connect({ host: "127.0.0.1", port });
    sockets.push(socket);
    socket.on("error", () => {});
    const made = once(socket, "connect").then(
      () => true,
      () => false,
    );
    if (!(await Promise.race([made, systemClock.sleep(PENDING_MS).then(() => false)]))) pending++;
  }
  return {
    port,
    stop() {
      for (const socket of sockets) socket.destroy();
      child.kill("SIGKILL");
    },
  };
}

describe("the proxy", () => {
  let rig: Rig;
  let mutes: readonly Mute[] = [];
  beforeAll(async () => {
    mutes = await Promise.all([startMute(), startMute()]);
  });
  afterAll(() => {
    for (const mute of mutes) mute.stop();
  });
  beforeEach(async () => {
    rig = await startRig({ connectTimeoutMs: 500 });
  });
  afterEach(async () => {
    await rig.stop();
  });

  const mute = (index: number): ProxyUpstream => ({
    id: `mute-${index}`,
    target: { host: "127.0.0.1", port: mutes[index]?.port ?? 0 },
  });
  const routeTo = (upstreams: readonly ProxyUpstream[]) => rig.routes([{ ...rig.routeTo([]), upstreams }]);
  const ask = async (request: string) => {
    const client = rig.client().send(request);
    await client.until((text) => readAnswers(text, ["GET"]).length === 1);
    const answer = readAnswers(client.received, ["GET"])[0];
    return { status: Number(answer?.first.split(" ")[1]), retryAfter: answer && header(answer, "retry-after"), answer };
  };

  test.each([
    ["GET", GET],
    ["POST", POST],
  ])(
    "a %s to upstreams that all hang in connecting: 504 with Retry-After, each tried once",
    async (method, request) => {
      await routeTo([mute(0), mute(1)]);
      const { status, retryAfter } = await ask(request);
      expect({ status, retryAfter }).toEqual({ status: 504, retryAfter: "1" });
      expect(rig.log.find((line) => line.retries === "exhausted")).toMatchObject({
        method,
        attempts: 2,
        failed: [
          { reason: "connectTimedOut", detail: "no connection within 500 ms" },
          { reason: "connectTimedOut", detail: "no connection within 500 ms" },
        ],
      });
      const { upstreams, failures } = await rig.counters();
      expect(upstreams.map(({ connectFailures }) => connectFailures)).toEqual([1, 1]);
      expect(failures).toBe(1);
    },
  );

  test("one hangs and one refuses: 502", async () => {
    const nobody = { host: "127.0.0.1", port: await steadyPort() };
    await routeTo([mute(0), { id: "nobody", target: nobody }]);
    expect(await ask(POST)).toMatchObject({ status: 502, retryAfter: "1" });
  });

  test("one hangs and one serves: the POST moves on, is executed once, and the hanging one is asked less", async () => {
    const upstream = await rig.addUpstream("b", echoScript("b"));
    const { upstreams } = rig.routeTo(["b"]);
    await routeTo([mute(0), ...upstreams]);
    for (let n = 0; n < 5; n++) expect((await ask(POST)).answer?.body).toContain('"body":"hi"');
    expect(upstream.accepted).toBe(5);
    expect((await rig.counters()).retries).toBeLessThan(5);
    expect(rig.log.find((line) => line.retries === "recovered")).toMatchObject({ upstream: "b", attempts: 2 });
  });

  test("a client that leaves while connecting hangs costs nothing further", async () => {
    await routeTo([mute(0), mute(1)]);
    const client = rig.client().send(POST);
    while ((await rig.counters()).inFlight === 0) await systemClock.sleep(5);
    client.socket.destroy();
    while ((await rig.counters()).inFlight > 0) await systemClock.sleep(5);
    expect((await rig.counters()).failures).toBe(0);
  });
});
