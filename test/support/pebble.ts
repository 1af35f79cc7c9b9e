// A certificate authority on loopback: Debian's pebble with its own name server, trusted by whoever is told `caFile`.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "../../supervisor/proxies/certificates/self-signed.ts";
import { poll } from "./poll.ts";
import { steadyPort } from "./steady-port.ts";

export interface Pebble {
  readonly directory: string;
  /** What its own HTTPS is vouched for by. */
  readonly caFile: string;
  /** Where it looks for HTTP-01 and TLS-ALPN-01. */
  readonly httpPort: number;
  readonly tlsPort: number;
  /** Of the name server. */
  readonly managementPort: number;
  /** What its certificates are vouched for by; another one each time it starts. */
  root(): Promise<string>;
  /** Ends the authority and starts it with these variables: it has forgotten everything. */
  restart(env: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
}

export async function startPebble(env: Readonly<Record<string, string>> = {}): Promise<Pebble> {
  const dir = mkdtempSync(join(tmpdir(), "owl-pebble-"));
  const [port, rootPort, httpPort, tlsPort, dnsPort, managementPort] = [
    await steadyPort(),
    await steadyPort(),
    await steadyPort(),
    await steadyPort(),
    await steadyPort(),
    await steadyPort(),
  ];
  const { cert, key } = selfSigned(["localhost"], Date.now());
  const caFile = join(dir, "cert.pem");
  writeFileSync(caFile, cert);
  writeFileSync(join(dir, "key.pem"), key);
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${rootPort}`,
    certificate: caFile,
    privateKey: join(dir, "key.pem"),
    httpPort,
    tlsPort,
    certificateValidityPeriod: 90 * 86_400,
    // Its panics over a name with fewer labels than a blocked one decide the length of this.
    domainBlocklist: ["blocked.test"],
  };
  writeFileSync(join(dir, "config.json"), JSON.stringify({ pebble }));
  const get = (path: string): Promise<string> => fetchText(`https://localhost:${rootPort}${path}`);
  const names = spawn(
    "pebble-challtestsrv",
    [
      ...["-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv6", ""],
      ...["-dns01", `127.0.0.1:${dnsPort}`, "-management", `127.0.0.1:${managementPort}`],
    ],
    { stdio: "ignore" },
  );
  let authority: ChildProcess | null = null;
  async function start(more: Readonly<Record<string, string>>): Promise<void> {
    authority = spawn("pebble", ["-config", join(dir, "config.json"), "-dnsserver", `127.0.0.1:${dnsPort}`], {
      env: { PATH: process.env.PATH ?? "", PEBBLE_VA_NOSLEEP: "1", PEBBLE_AUTHZREUSE: "0", ...more },
      stdio: "ignore",
    });
    await poll(() => get("/roots/0").then(Boolean, () => false));
  }
  async function end(child: ChildProcess | null): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
  async function stop(): Promise<void> {
    await Promise.all([end(authority), end(names)]);
    rmSync(dir, { recursive: true, force: true });
  }
  await start(env).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    directory: `https://localhost:${port}/dir`,
    caFile,
    httpPort,
    tlsPort,
    managementPort,
    root: () => get("/roots/0"),
    async restart(more) {
      await end(authority);
      await start(more);
    },
    stop,
  };
}

function fetchText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("end", () => (answer.statusCode === 200 ? resolve(text) : reject(new Error(text))));
    });
    asked.on("error", reject);
    asked.end();
  });
}
