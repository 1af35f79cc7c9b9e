// The loader on whole files: shape, environment, defaults, relations, and the words of its errors.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "../../../config/config.ts";
import { loadConfig } from "../../../config/load.ts";
import { ConfigError } from "../../../config/problems.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "owl-config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function load(yaml: string | null, env: Record<string, string> = {}): Config {
  if (yaml !== null) writeFileSync(join(folder, "owl.yaml"), yaml);
  return loadConfig({ env: { OWL_HOME: join(folder, "home"), ...env }, cwd: folder, userProblem: () => null });
}

function problemsOf(yaml: string | null, env: Record<string, string> = {}): string[] {
  try {
    load(yaml, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((one) => `${one.where}: ${one.message}`);
    throw error;
  }
  return [];
}

const own = 'services:\n  web:\n    command: [node, web.mjs]\n    routes: [{path: "/"}]\n';

test("models are one list: `model` first, or else the first of `models`; two of one name are refused", () => {
  const two =
    "models: [{baseUrl: 'http://a/v1', name: a, price: {input: 0.5, output: 2}}, {baseUrl: 'http://b/v1', name: b}]";
  const { app } = load(`${two}\nbudget: {monthly: 20}\n`);
  expect(app).toMatchObject({
    model: { baseUrl: "http://a/v1", name: "a", apiKey: null, price: { input: 0.5, output: 2 } },
    models: [{ baseUrl: "http://b/v1", name: "b", apiKey: null }],
    budget: { monthly: 20 },
  });
  const three = load(`model: {baseUrl: 'http://c/v1', name: c}\n${two}\n`).app;
  expect([three?.model, ...(three?.models ?? [])].map((model) => model?.name)).toEqual(["c", "a", "b"]);
  expect(problemsOf(`model: {baseUrl: 'http://c/v1', name: b}\n${two}\n`)).toEqual([
    expect.stringMatching(/two models are called b/),
  ]);
});

test("a service with a schedule has what a run needs, and is told what cannot be", () => {
  const nightly = (more: string) => `services:\n  nightly: {command: [node, x.mjs], ${more}}\n`;
  expect(load(nightly('schedule: {cron: "30 3 * * *", zone: Asia/Seoul, limit: 2h}')).services[0]).toMatchObject({
    ...{ replicas: 0, listen: "none", routes: [] },
    schedule: { cron: "30 3 * * *", zone: "Asia/Seoul", overlap: "skip", missed: "skip", limitMs: 7_200_000 },
  });
  const always = "replicas: 2, listen: port, routes: [{path: /}], health: {uptime: 1s}";
  expect(problemsOf(nightly(`${always}, schedule: {cron: "1 2 3 4 x", limit: 0s}`))).toEqual([
    ...["listen", "routes", "replicas", "health"].map((key) =>
      expect.stringMatching(`\\.${key} belongs to a service that`),
    ),
    expect.stringMatching(/schedule\.cron \("1 2 3 4 x"\)/),
    expect.stringMatching(/schedule\.limit must be above 0s/),
  ]);
  expect(problemsOf(nightly('schedule: {cron: "0 0 30 2 *"}'))).toEqual([expect.stringMatching(/never comes/)]);
  expect(problemsOf(nightly('schedule: {cron: "0 0 1 * *", zone: Mars/Base}'))).toEqual([
    expect.stringMatching(/no time zone Mars\/Base/),
  ]);
  const waits = "  web: {command: [node, web.mjs], depends_on: [nightly]}\n";
  expect(problemsOf(nightly('schedule: {cron: "0 0 1 * *"}') + waits)).toEqual([
    expect.stringMatching(/depends_on: nightly runs by its schedule/),
  ]);
});

test("routes with files: below the source, or anywhere; a service of files alone has no command", () => {
  const site = (routes: string) => `services:\n  site: {routes: [${routes}]}\n`;
  expect(load(site("{path: /, files: ., cache: 1h}, {path: /tmp, files: /tmp}")).services[0]).toMatchObject({
    ...{ command: [], replicas: 0, listen: "none" },
    routes: [
      { path: "/", files: { directory: folder, within: "", cacheS: 3_600 } },
      { path: "/tmp", files: { directory: "/tmp", within: null, cacheS: null } },
    ],
  });
  expect(problemsOf(site("{path: /, files: nowhere}"))).toEqual([expect.stringMatching(/no directory .*nowhere/)]);
  expect(problemsOf(site("{path: /}, {path: /a, files: .}"))).toEqual([expect.stringMatching(/command is missing/)]);
  expect(problemsOf("services:\n  web: {replicas: 1}\n")).toEqual([expect.stringMatching(/command is missing/)]);
  expect(problemsOf("services:\n  web: {command: [x], routes: [{cache: 1h}]}\n")).toEqual([
    expect.stringMatching(/cache belongs to a route with files/),
  ]);
});

describe("without a file", () => {
  test("the bundled application runs with the figures of the specification", () => {
    const config = load(null);
    expect(config.file).toBeNull();
    expect(config.bundled).toBe(true);
    expect(config.usesDatabase).toBe(true);
    expect(config.services.map((one) => [one.name, one.replicas, one.routes.map((route) => route.path)])).toEqual([
      ["web", 2, ["/api/uploads", "/"]],
      ["worker", 2, []],
    ]);
    expect(config.proxy).toMatchObject({ connectTimeoutMs: 500, queueTimeoutMs: 5_000, drainTimeoutMs: 300_000 });
    expect(config.proxy.listen).toEqual([{ host: "127.0.0.1", port: 8080 }]);
    const turn = { finishMs: 270_000, wrapUpMs: 30_000, claimMs: 420_000, limitMs: 1_800_000, onStop: "handOver" };
    expect(config.turn).toEqual(turn);
    expect(config.stop.graceMs).toBe(330_000);
  });

  test("everything is frozen, all the way down", () => {
    const config = load(null);
    expect(() => Object.assign(config.proxy.limits, { connections: 1 })).toThrow(TypeError);
    expect(() => (config.services as unknown[]).push(1)).toThrow(TypeError);
  });

  test("a file that was named must exist", () => {
    expect(problemsOf(null, { OWL_CONFIG: "there-is-none.yaml" })[0]).toMatch(/there-is-none\.yaml: .*no such file/);
  });
});

test("a memory limit is a bundled service's as well as a team's own; without one there is none", () => {
  const limits = (yaml: string) => load(yaml).services.map((one) => [one.name, one.memoryLimitBytes]);
  expect(limits("worker: {memory: {limit: 1GiB}}")).toEqual([
    ["web", null],
    ["worker", 2 ** 30],
  ]);
  expect(limits("web: {memory: {limit: 512MiB}}")).toEqual([
    ["web", 2 ** 29],
    ["worker", null],
  ]);
  expect(limits(own.replace("routes:", "memory: {limit: 64MiB}\n    routes:"))).toEqual([["web", 2 ** 26]]);
  expect(problemsOf("web: {memory: {}}")).toEqual([expect.stringMatching(/web\.memory\.limit is missing/)]);
});

describe("the environment goes before owl.yaml", () => {
  test("OWL_PORT changes the port and leaves the host", () => {
    expect(load('proxy: {listen: "0.0.0.0:9000"}', { OWL_PORT: "9100" }).proxy.listen).toEqual([
      { host: "0.0.0.0", port: 9100 },
    ]);
  });

  test("replicas, and OWLAI_WEB_WORKERS multiplies those of web", () => {
    const env = { OWLAI_BACKEND_REPLICAS: "3", OWLAI_WORKER_REPLICAS: "5", OWLAI_WEB_WORKERS: "2" };
    expect(load("web: {replicas: 7}", env).services.map((one) => one.replicas)).toEqual([6, 5]);
    expect(load("web: {replicas: 7}", { OWLAI_WEB_WORKERS: "2" }).services.map((one) => one.replicas)).toEqual([14, 2]);
    expect(load(own, env).services.map((one) => one.replicas)).toEqual([6]);
  });

  test("nonsense in it is named by variable", () => {
    expect(problemsOf(null, { OWL_PORT: "http" })).toEqual([
      'environment OWL_PORT: expected a whole number from 1 to 65535, got "http"',
    ]);
  });
});

describe("a team's own services", () => {
  test("need no database, and their order is the file's", () => {
    const config = load(`${own}  app:\n    command: [node, app.mjs]\n    listen: none\n`);
    expect(config.usesDatabase).toBe(false);
    expect(config.app).toBeNull();
    expect(config.services.map((one) => one.name)).toEqual(["web", "app"]);
    expect(config.services[0]?.health.check).toEqual({ kind: "connect" });
    expect(config.services[1]?.health.check).toEqual({ kind: "uptime", uptimeMs: 2_000 });
  });

  test("need no turn budget unless turn is given", () => {
    expect(load(`${own}stop: {grace: 3s}\n`).stop.graceMs).toBe(3_000);
    expect(problemsOf(`${own}stop: {grace: 60s}\nturn: {finish: 50s, wrapUp: 10s}\n`)).toEqual([
      "owl.yaml:6:16: turn.finish (50s) + turn.wrapUp (10s) = 60s must be below stop.grace (60s), owl.yaml:5:15",
    ]);
  });

  test("get secrets from the environment and from files, and other texts as they are", () => {
    writeFileSync(join(folder, "token"), "from a file\n");
    const env = `    env: {A: "\${SECRET}", B: "file:${folder}/token", C: "abc$def", D: "$\${X}", E: {value: "\${X}"}, F: "file:./dev.db"}\n`;
    const service = load(own + env, { SECRET: "s p@$c" }).services[0];
    expect(service?.env).toEqual({
      A: "s p@$c",
      B: "from a file",
      C: "abc$def",
      D: "${X}",
      E: "${X}",
      F: "file:./dev.db",
    });
  });

  test("a secret that is not there is an error that names it and its place", () => {
    expect(problemsOf(`${own}    env: {A: "\${NOT_SET}"}\n`)[0]).toMatch(
      /^owl\.yaml:5:14: services\.web\.env\.A: \$\{NOT_SET\} is not set/,
    );
  });

  test("a service called test with a variable TEST gets it", () => {
    expect(load("services: {test: {command: [a], env: {TEST: aaa}}}").services[0]?.env).toEqual({ TEST: "aaa" });
  });

  test("envFile is read, and env goes before it", () => {
    writeFileSync(join(folder, "web.env"), "A=1\nB=2\n");
    expect(load(`${own}    envFile: web.env\n    env: {B: three}\n`).services[0]?.env).toEqual({ A: "1", B: "three" });
  });

  test("certificate files that are not there are told, and stop nobody", () => {
    const { warnings } = load(`${own}proxy: {tls: {cert: no.pem, key: no.pem}}\n`);
    expect(warnings?.map((line) => line.replace(/ file .*/, ""))).toEqual([
      "owl.yaml:5:21: proxy.tls.cert: there is no",
      "owl.yaml:5:34: proxy.tls.key: there is no",
    ]);
  });

  test("an ordered certificate takes the web's own ports and a place in OWL_HOME", () => {
    const { proxy } = load(`${own}proxy: {tls: {acme: {domains: [Owl.Example.org], email: a@example.org}}}\n`);
    expect(proxy.listen).toEqual([{ host: "0.0.0.0", port: 443 }]);
    expect(proxy.tls).toMatchObject({
      redirectFrom: { host: "0.0.0.0", port: 80 },
      acme: { domains: ["owl.example.org"], directory: expect.stringMatching(/^https:/), dnsCommand: null },
    });
    expect(proxy.tls?.cert).toMatch(/\/certificates\/certificate\.pem$/);
    expect(proxy.tls?.key).toBe(proxy.tls?.cert);
    const elsewhere = load(`${own}proxy: {listen: "127.0.0.1:8443", tls: {acme: {domains: [a.b], email: a@a.b}}}\n`);
    expect(elsewhere.proxy.tls?.redirectFrom).toBeNull();
  });

  test.each([
    ["neither a certificate nor an authority", "hsts: 0s", /proxy\.tls needs cert and key, or acme/],
    ["half a certificate", "cert: a.pem", /proxy\.tls needs cert and key, or acme/],
    ["both", "cert: a, key: b, acme: {domains: [a.b], email: a@a.b}", /not both/],
    [
      "a wildcard without DNS",
      'acme: {domains: ["*.a.b"], email: a@a.b}',
      /a wildcard needs proxy\.tls\.acme\.dns\.command/,
    ],
    ["a plain directory", "acme: {domains: [a.b], email: a@a.b, directory: 'http://x'}", /beginning with https/],
    ["an address as a name", "acme: {domains: [10.0.0.1], email: a@a.b}", /expected a domain such as/],
    ["no name", "acme: {domains: [], email: a@a.b}", /proxy\.tls\.acme\.domains/],
  ])("%s is refused", (_, tls, problem) => {
    expect(problemsOf(`${own}proxy: {tls: {${tls}}}\n`).join("\n")).toMatch(problem);
  });

  test("sections of the bundled application beside them are warned about", () => {
    expect(load(`${own}model: {baseUrl: "http://x", name: m}\n`).warnings?.[0]).toMatch(
      /^owl\.yaml:5:1: model belongs to the bundled/,
    );
  });
});

describe("errors say where, expected, got, and the nearest key", () => {
  test.each([
    ["an unknown key", "stop: {graze: 5s}", /^owl\.yaml:1:8: unknown key stop\.graze; did you mean grace\?/],
    ["an unknown section", "proxie: {}", /^owl\.yaml:1:1: unknown key proxie; did you mean proxy\?/],
    ["a bare number", "stop: {grace: 330}", /^owl\.yaml:1:15: stop\.grace: .*330s \(or 330ms\)/],
    ["a number as size", "proxy: {limits: {body: 10}}", /10MiB/],
    [
      "a command as text",
      "services:\n  web:\n    command: node web.mjs",
      /^owl\.yaml:3:14: services\.web\.command: expected a list of arguments/,
    ],
    ["a missing command", "services:\n  web: {replicas: 1}", /^owl\.yaml:2:3: services\.web\.command is missing/],
    [
      "a negative number",
      "web: {replicas: -1}",
      /^owl\.yaml:1:17: web\.replicas: expected a whole number .* got the number -1/,
    ],
    ["an alias of nothing", "web:\n  replicas: *two", /^owl\.yaml:2:13: not valid YAML: \*two names nothing/],
    ["a merge of a list", "x: &x [1]\nweb:\n  <<: *x", /^owl\.yaml:\d+:\d+: not valid YAML/],
    [
      "a second document",
      "web: {replicas: 1}\n---\nweb: {replicas: 2}",
      /^owl\.yaml:2:1: not valid YAML: a second doc/,
    ],
    ["a key twice", "web: {}\nweb: {}", /^owl\.yaml:2:1: not valid YAML/],
    ["a list as file", "- a", /the file: expected a mapping, got a list/],
    ["a bad address", "proxy: {listen: 8080}", /expected an address such as "127\.0\.0\.1:8080"/],
    ["a port too high", 'proxy: {listen: "127.0.0.1:80800"}', /expected an address/],
    ["public metrics", 'proxy: {metrics: "0.0.0.0:9090"}', /must be a loopback address/],
    ["no services", "services: {}", /services is empty/],
    ["a reserved name", "services: {postgres: {command: [a]}}", /names of Owl's own parts/],
    ["an instance's name", "services: {web-1: {command: [a]}}", /not ending in -NUMBER/],
    [
      "routes without a listener",
      'services: {a: {command: [a], listen: none, routes: [{path: "/"}]}}',
      /has routes but listen: none/,
    ],
    ["{port} on a socket", 'services: {a: {command: [a, "{port}"]}}', /needs listen: port/],
    ["two checks", "services: {a: {command: [a], health: {http: /r, uptime: 1s}}}", /one check, not http and uptime/],
    [
      "the same route twice",
      'services: {a: {command: [a], routes: [{path: "/"}]}, b: {command: [b], routes: [{}]}}',
      /both have the route/,
    ],
    [
      "a service it depends on that is not there",
      "services: {web: {command: [a], depends_on: [ap]}, api: {command: [a]}}",
      /owl\.yaml:1:45: services\.web\.depends_on: there is no service ap; did you mean api\?/,
    ],
    [
      "services in a circle",
      "services: {a: {command: [a], depends_on: [b]}, b: {command: [b], depends_on: [a]}}",
      /none could start: a -> b -> a|none could start: b -> a -> b/,
    ],
    ["no time to start", "services: {a: {command: [a], start: {timeout: 0s}}}", /start\.timeout must be above 0s/],
    ["a single log file", "logs: {count: 1}", /from 2 to 100/],
    ["two databases", 'database: {url: "postgres://x"}\npostgres: {maxConnections: 50}', /drop one of the two/],
    ["a URL of another kind", 'database: {url: "mysql://x"}', /expected a URL beginning with postgres:\/\//],
    [
      "budgets over the grace",
      "stop: {grace: 12s}",
      /turn\.finish \(270s\) \+ turn\.wrapUp \(30s\) = 300s must be below stop\.grace \(12s\)/,
    ],
    ["umask as a number", "services: {a: {command: [a], umask: 0022}}", /octal digits in quotes/],
  ])("%s", (_, yaml, pattern) => {
    expect(problemsOf(yaml).join("\n")).toMatch(pattern);
  });

  test("all of them at once, in the order of the file", () => {
    const found = problemsOf("proxy: {listen: 1}\nstop: {grace: 5}\nweb: {replicas: x}\n");
    expect(found.map((one) => one.split(":").slice(0, 2).join(":"))).toEqual([
      "owl.yaml:1",
      "owl.yaml:2",
      "owl.yaml:3",
    ]);
  });

  test("and never show a secret", () => {
    const found = problemsOf(
      'database: {url: "mysql://u:hunter2@h/db"}\nmodel: {baseUrl: "x", apiKey: [hunter2], name: m}',
    );
    expect(found.join("\n")).not.toContain("hunter2");
    expect(found.length).toBeGreaterThan(0);
  });

  test("a home whose sockets would not fit says so", () => {
    expect(problemsOf(null, { OWL_HOME: `/tmp/${"x".repeat(100)}` })[0]).toMatch(/a Unix socket's path may have 107/);
  });

  test("a section with every line commented out is no error", () => {
    expect(load("proxy:\n#  listen: x\nstop: {grace: 400s}\n").stop.graceMs).toBe(400_000);
  });
});
