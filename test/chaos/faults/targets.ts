// What faults aim at, and looks at the product from outside: its sockets and its database.

import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import pg from "pg";

/** GET /readyz on an instance's own socket: true for 2xx within `timeoutMs`. */
export function isReady(socketPath: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(
      { socketPath, path: "/readyz", timeout: timeoutMs, agent: false, headers: { host: "localhost" } },
      (response) => {
        response.resume();
        resolve(response.statusCode !== undefined && response.statusCode < 300);
      },
    );
    sent.on("timeout", () => {
      sent.destroy();
      resolve(false);
    });
    sent.on("error", () => resolve(false));
    sent.end();
  });
}

/** Ready instances of a service, by asking each of its sockets. */
export async function readyInstances(home: string, service: string, timeoutMs: number): Promise<readonly string[]> {
  const names = socketsOf(home).filter((name) => name.startsWith(`${service}-`));
  const ready = await Promise.all(names.map((name) => isReady(join(home, "run", `${name}.sock`), timeoutMs)));
  return names.filter((_, index) => ready[index] === true);
}

function socketsOf(home: string): readonly string[] {
  try {
    return readdirSync(join(home, "run"))
      .filter((name) => /^(web|worker)-\d+\.sock$/.test(name))
      .map((name) => name.slice(0, -".sock".length));
  } catch {
    return [];
  }
}

/** Whether the proxy answers anything at all. */
export const proxyAnswers = async (port: number) => (await throughProxy(port)) !== null;

/** Whether a request through the proxy is answered by an instance, and not by the proxy that has none. */
export async function proxyServes(port: number): Promise<boolean> {
  const status = await throughProxy(port);
  return status !== null && status < 500;
}

function throughProxy(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const sent = request(
      { host: "127.0.0.1", port, path: "/api/session", timeout: 3_000, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? null);
      },
    );
    sent.on("timeout", () => {
      sent.destroy();
      resolve(null);
    });
    sent.on("error", () => resolve(null));
    sent.end();
  });
}

/** Rows of one statement, as the database's administrator, over a connection of its own. Throws when it is away. */
export async function asAdministrator<T extends pg.QueryResultRow>(home: string, sql: string): Promise<readonly T[]> {
  const password = readFileSync(join(home, "postgres/admin-password"), "utf8").trim();
  const client = new pg.Client({
    host: join(home, "postgres/run"),
    port: 5432,
    user: "owl_admin",
    database: "owl",
    password,
    application_name: "chaos",
    connectionTimeoutMillis: 3_000,
    query_timeout: 5_000,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
