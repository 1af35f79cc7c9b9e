// Certificates from a real authority (Debian's pebble) on loopback: by a whole owld, and by the keeper alone under a
// clock that is moved by months.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { AcmeConfig } from "../../config/config.ts";
import { systemRandom } from "../../config/system-time.ts";
import { en } from "../../supervisor/core/text/text.ts";
import { standIn } from "../../supervisor/proxies/certificates/certificates.ts";
import { createCertificateFiles } from "../../supervisor/proxies/certificates/files.ts";
import { createCertificateKeeper } from "../../supervisor/proxies/certificates/keeper.ts";
import { createOrdering } from "../../supervisor/proxies/certificates/ordering.ts";
import { createPaperDisk, openMemoryStore } from "../support/memory-store.ts";
import { createOwldHome, program } from "../support/owld.ts";
import { type Pebble, startPebble } from "../support/pebble.ts";
import { onRequests } from "../support/proxy/messages.ts";
import { startRig } from "../support/proxy/rig.ts";
import { proxyConfig } from "../support/proxy-config.ts";
import { createTestClock } from "../support/test-clock.ts";

let pebble: Pebble;
const cleanups: (() => Promise<unknown> | unknown)[] = [];

beforeAll(async () => {
  pebble = await startPebble();
});
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});
afterAll(() => pebble.stop());

/** Resolves with the status of the answer; rejects where the certificate is not of that authority. */
function get(port: number, servername: string, ca: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path: "/", servername, ca, agent }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode));
    });
    asked.on("error", reject);
    asked.end();
  });
}

/** The keeper with a true proxy at the ports where the authority looks; owld's state is on paper. */
async function setup(changes: Partial<AcmeConfig> = {}, redirects = true) {
  const home = mkdtempSync(join(tmpdir(), "owl-keeper-"));
  cleanups.push(() => rmSync(home, { recursive: true, force: true }));
  const paths = { certificates: join(home, "certificates"), certificate: join(home, "certificates/certificate.pem") };
  const acme: AcmeConfig = {
    domains: ["owl.test", "www.owl.test"],
    email: "admin@owl.test",
    directory: pebble.directory,
    dnsCommand: null,
    ...changes,
  };
  const redirectFrom = redirects ? { host: "127.0.0.1", port: pebble.httpPort } : null;
  const tls = { cert: paths.certificate, key: paths.certificate, acme, redirectFrom, hstsMaxAgeS: 0, http2: true };
  const clock = createTestClock(Date.now());
  const proxy = proxyConfig({ listen: [{ host: "127.0.0.1", port: pebble.tlsPort }], tls });
  const env = { PATH: process.env.PATH ?? "", NODE_EXTRA_CA_CERTS: pebble.caFile };
  standIn({ paths, clock }, proxy);
  const rig = await startRig(proxy);
  cleanups.push(() => rig.stop());
  await rig.addUpstream("a", (socket) =>
    onRequests(socket, () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")),
  );
  await rig.route(["a"]);
  const disk = createPaperDisk();
  const said: string[] = [];
  let version = 100;
  let showing = true;
  const keeper = createCertificateKeeper({
    clock,
    random: systemRandom,
    paths,
    store: openMemoryStore(disk, () => undefined),
    journal: {
      write({ type, message }) {
        said.push(`${type} ${message}`);
        return { id: 1, at: "", type, service: null, instance: null, rollout: null, message };
      },
    },
    record: en,
    config: () => proxy,
    open: () => true,
    order: createOrdering({
      env,
      async challenge(challenges) {
        const routes = [rig.routeTo(["a"])];
        rig.send({ type: "table", table: { version: version++, routes, challenges: showing ? challenges : [] } });
        await rig.next("ack");
      },
    }),
    failed(error) {
      throw error;
    },
  });
  const served = () => createCertificateFiles(paths).served();
  const look = () => keeper.runOnce(new AbortController().signal);
  return {
    ...{ clock, keeper, said, served, look },
    text: () => readFileSync(paths.certificate, "utf8"),
    /** From now on the proxy shows the authority nothing. */
    hide(hidden: boolean) {
      showing = !hidden;
    },
  };
}

test("a fresh owld with one line of owl.yaml serves by the authority's certificate, without a dropped connection", async () => {
  const home = await createOwldHome("");
  cleanups.push(() => home.cleanUp());
  writeFileSync(
    home.configFile,
    `proxy:
  listen: "127.0.0.1:${pebble.tlsPort}"
  processes: 2
  tls: {acme: {domains: [owl.test], email: admin@owl.test, directory: "${pebble.directory}"}, redirectFrom: "127.0.0.1:${pebble.httpPort}"}
stop: {grace: 2s}
services:
  web: {command: ["${process.execPath}", "${program("small-web.ts")}"], health: {http: /}, routes: [{path: "/"}]}
`,
  );
  const owld = home.start({ NODE_EXTRA_CA_CERTS: pebble.caFile });
  const first = await owld.until(({ proxy }) => proxy.processes.length === 2 && proxy.certificate !== undefined);
  const early = connect({ host: "127.0.0.1", port: pebble.tlsPort, rejectUnauthorized: false });
  await new Promise((resolve, reject) => early.once("secureConnect", resolve).once("error", reject));
  const { proxy } = await owld.until(
    ({ state, proxy: { certificate } }) => state === "steady" && certificate?.standIn === false,
  );
  expect(first.proxy.certificate?.renewal?.domains).toEqual(["owl.test"]);
  expect(proxy.certificate?.renewal).toMatchObject({ failures: 0, why: null });
  expect(await owld.text("/metrics")).toContain("owl_certificate_order_failures 0");
  expect(await owld.text("/v1/events")).toContain("certificate.issued");
  const root = await pebble.root();
  // Both processes read the file within seconds of each other.
  for (let right = 0; right < 10; ) {
    const agent = new Agent();
    right = (await get(pebble.tlsPort, "owl.test", root, agent).catch(() => 0)) === 200 ? right + 1 : 0;
    agent.destroy();
  }
  early.write("GET / HTTP/1.1\r\nHost: owl.test\r\nConnection: close\r\n\r\n");
  let answer = "";
  for await (const chunk of early) answer += String(chunk);
  expect(answer).toContain(" 200 OK");
  const files = join(home.home, "certificates");
  expect(statSync(files).mode & 0o777).toBe(0o700);
  expect(statSync(join(files, "certificate.pem")).mode & 0o777).toBe(0o600);
  owld.child.kill("SIGTERM");
  expect((await owld.exited).code).toBe(0);
});

test("it is renewed when a third of its life is left, though a good part of all nonces is refused", async () => {
  await pebble.restart({ PEBBLE_WFE_NONCEREJECT: "25" });
  const { clock, keeper, look, said, served, text } = await setup({}, false);
  expect(served()?.standIn).toBe(true);
  await look();
  const first = text();
  expect(said).toEqual([expect.stringMatching(/^certificate\.issued /)]);
  expect(served()).toMatchObject({ standIn: false });
  expect(served()?.names("www.owl.test")).toBe(true);
  const { nextAt } = keeper.renewal() ?? {};
  const lifeMs = (served()?.untilMs ?? 0) - (served()?.fromMs ?? 0);
  expect(Date.parse(nextAt ?? "") - clock.now()).toBeGreaterThan(lifeMs * 0.6);
  await clock.advance(Date.parse(nextAt ?? "") - clock.now() - 60_000);
  await look();
  expect(text()).toBe(first);
  await clock.advance(120_000);
  await look();
  expect(text()).not.toBe(first);
  expect(served()?.standIn).toBe(false);
});

test("while the authority refuses, the old one serves on, and it is tried again later and later", async () => {
  await pebble.restart({ PEBBLE_WFE_NONCEREJECT: "0" });
  const { clock, keeper, look, said, text } = await setup({ domains: ["owl.test", "blocked.test"] });
  const standIn = text();
  await look();
  expect(said.at(-1)).toMatch(/^certificate\.failed .*blocked\.test.*policy/i);
  expect(keeper.renewal()).toMatchObject({ failures: 1, why: expect.stringMatching(/policy/) });
  await look();
  expect(said.length).toBe(1);
  await clock.advance(7 * 60_000);
  await look();
  expect(said.length).toBe(2);
  expect(keeper.renewal()).toMatchObject({ failures: 2 });
  expect(text()).toBe(standIn);
});

test("a name the authority cannot see to be ours is told with its words; once it can, the certificate comes", async () => {
  const { clock, hide, keeper, look, said, served } = await setup();
  hide(true);
  await look();
  expect(said.at(-1)).toMatch(/owl\.test \(http-01\): .*/);
  hide(false);
  await clock.advance(7 * 60_000);
  await look();
  expect(keeper.renewal()).toMatchObject({ failures: 0 });
  expect(served()?.standIn).toBe(false);
});

test("a wildcard is proved by the DNS command", async () => {
  const dnsCommand = [process.execPath, program("dns-hook.mjs"), String(pebble.managementPort)];
  const { look, said, served } = await setup({ domains: ["owl.test", "*.owl.test"], dnsCommand }, false);
  await look();
  expect(said).toEqual([expect.stringMatching(/^certificate\.issued /)]);
  expect(served()?.names("any.owl.test")).toBe(true);
});
