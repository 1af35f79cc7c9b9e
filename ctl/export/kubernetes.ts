// The configuration as Kubernetes objects: the same budgets, kept by maxSurge 1, maxUnavailable 0, probes and grace.
// Pure: answers plain objects in the order they are applied; the test holds them against the published schemas.

import type { HealthCheck } from "../../config/config.ts";
import {
  CODE,
  CREDENTIALS,
  type ExportedService,
  type ExportRequest,
  exportedServices,
  objectName,
  PORT,
} from "./plan.ts";

type KubernetesObject = Readonly<Record<string, unknown>> & {
  readonly apiVersion: string;
  readonly kind: string;
};

const MIB = 2 ** 20;
const DEFAULT_REQUEST_BYTES = 256 * MIB;
/** The secret all manifests name; its keys are variable names. Made by hand, see the head of the output. */
const SECRET = "owl";

/** All objects for `request`: migration Job first, then per service Deployment, budget, Service, and the Ingress. */
export function kubernetesObjects(request: ExportRequest): readonly KubernetesObject[] {
  const services = exportedServices(request);
  const objects: KubernetesObject[] = [];
  if (request.config.bundled) objects.push(sharedHome(), migrationJob(request));
  for (const service of services) {
    objects.push(deployment(service, request), disruptionBudget(service));
    if (service.routes.length > 0) objects.push(clusterService(service));
  }
  const ingress = ingressOf(services);
  if (ingress) objects.push(ingress);
  return objects;
}

function labels(service: string): Record<string, string> {
  return {
    "app.kubernetes.io/name": objectName(service),
    "app.kubernetes.io/part-of": "owl",
  };
}

function deployment(service: ExportedService, request: ExportRequest): KubernetesObject {
  const name = objectName("owl", service.name);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, labels: labels(service.name) },
    spec: {
      replicas: service.replicas,
      // New first and ready, then one old one: the rule of an Owl rollout.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      progressDeadlineSeconds: Math.max(600, service.startupS + 60),
      selector: { matchLabels: labels(service.name) },
      template: {
        metadata: { labels: labels(service.name) },
        spec: {
          terminationGracePeriodSeconds: service.graceS,
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, runAsUser: 10_001, fsGroup: 10_001 },
          containers: [container(service, request)],
          volumes: [
            { name: "tmp", emptyDir: {} },
            ...(service.bundled ? [{ name: "home", persistentVolumeClaim: { claimName: "owl-home" } }] : []),
            ...(service.secretFiles.length === 0 ? [] : [secretVolume(service)]),
          ],
        },
      },
    },
  };
}

function secretVolume({ secretFiles }: ExportedService): Record<string, unknown> {
  const items = secretFiles.map(({ name, key }) => ({ key, path: name }));
  return { name: "secrets", secret: { secretName: SECRET, defaultMode: 0o440, items } };
}

function container(service: ExportedService, request: ExportRequest): Record<string, unknown> {
  const limit = service.memoryLimitBytes;
  const probe = probeOf(service.check);
  return {
    name: objectName(service.name),
    image: request.image,
    command: [...service.command],
    workingDir: CODE,
    env: environment(service),
    ...(service.listens ? { ports: [{ name: "http", containerPort: PORT }] } : {}),
    ...(probe
      ? {
          startupProbe: {
            ...probe,
            periodSeconds: 1,
            failureThreshold: service.startupS,
            timeoutSeconds: service.timeoutS,
          },
          readinessProbe: {
            ...probe,
            periodSeconds: service.intervalS,
            failureThreshold: 3,
            timeoutSeconds: service.timeoutS,
          },
        }
      : {}),
    // The grace includes this pause: endpoints lag behind a pod's end, Owl's own proxy does not.
    ...(service.preStopS > 0
      ? { lifecycle: { preStop: { exec: { command: ["sleep", String(service.preStopS)] } } } }
      : {}),
    resources: {
      requests: { cpu: "100m", memory: mebibytes(limit === null ? DEFAULT_REQUEST_BYTES : limit / 2) },
      ...(limit === null ? {} : { limits: { memory: mebibytes(limit) } }),
    },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
    volumeMounts: [
      { name: "tmp", mountPath: "/tmp" },
      ...(service.bundled ? [{ name: "home", mountPath: "/var/lib/owl" }] : []),
      ...(service.secretFiles.length === 0 ? [] : [{ name: "secrets", mountPath: CREDENTIALS, readOnly: true }]),
    ],
  };
}

function environment(service: Pick<ExportedService, "plainEnv" | "secretEnv">): readonly Record<string, unknown>[] {
  return [
    { name: "OWL_INSTANCE", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "PGAPPNAME", value: "owl/$(OWL_INSTANCE)" },
    ...Object.entries(service.plainEnv).map(([name, value]) => ({ name, value })),
    ...service.secretEnv.map((name) => ({ name, valueFrom: { secretKeyRef: { name: SECRET, key: name } } })),
  ];
}

function probeOf(check: HealthCheck): Record<string, unknown> | null {
  switch (check.kind) {
    case "http":
      return { httpGet: { path: check.path, port: PORT, httpHeaders: [{ name: "Host", value: "localhost" }] } };
    case "command":
      return { exec: { command: [...check.command] } };
    case "connect":
      return { tcpSocket: { port: PORT } };
    case "uptime":
      return null;
  }
}

function disruptionBudget(service: ExportedService): KubernetesObject {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: objectName("owl", service.name), labels: labels(service.name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels(service.name) } },
  };
}

function clusterService(service: ExportedService): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: objectName("owl", service.name), labels: labels(service.name) },
    spec: { selector: labels(service.name), ports: [{ name: "http", port: 80, targetPort: PORT }] },
  };
}

function ingressOf(services: readonly ExportedService[]): KubernetesObject | null {
  const rules = services.flatMap((service) =>
    service.routes.map(({ host, path }) => ({
      ...(host === "*" ? {} : { host }),
      http: {
        paths: [
          {
            path,
            pathType: "Prefix",
            backend: { service: { name: objectName("owl", service.name), port: { name: "http" } } },
          },
        ],
      },
    })),
  );
  if (rules.length === 0) return null;
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "owl", labels: { "app.kubernetes.io/part-of": "owl" } },
    spec: { rules },
  };
}

/** Uploads and the first password: every node that runs web or worker sees them, so the class must allow that. */
function sharedHome(): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "owl-home", labels: { "app.kubernetes.io/part-of": "owl" } },
    spec: { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "20Gi" } } },
  };
}

/** Migrations and the prepare step run to their end before a new release's Deployments are applied. */
function migrationJob(request: ExportRequest): KubernetesObject {
  const step = (name: string, script: string): Record<string, unknown> => ({
    name,
    image: request.image,
    command: ["node", `${CODE}/${script}`],
    workingDir: CODE,
    env: [
      { name: "OWL_INSTANCE", value: name },
      { name: "OWL_HOME", value: "/var/lib/owl" },
      { name: "OWL_RELEASE", value: request.version },
      { name: "OWL_APP_CONFIG", valueFrom: { secretKeyRef: { name: SECRET, key: "OWL_APP_CONFIG" } } },
      {
        name: "OWL_ADMIN_PASSWORD",
        valueFrom: { secretKeyRef: { name: SECRET, key: "OWL_ADMIN_PASSWORD", optional: true } },
      },
    ],
    volumeMounts: [{ name: "home", mountPath: "/var/lib/owl" }],
  });
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: objectName("owl-migrate", request.version), labels: { "app.kubernetes.io/part-of": "owl" } },
    spec: {
      backoffLimit: 0,
      template: {
        spec: {
          restartPolicy: "Never",
          securityContext: { runAsNonRoot: true, runAsUser: 10_001, fsGroup: 10_001 },
          initContainers: [step("migrate", "supervisor/postgres/migrate-once.ts")],
          containers: [step("prepare", "services/prepare/main.ts")],
          volumes: [{ name: "home", persistentVolumeClaim: { claimName: "owl-home" } }],
        },
      },
    },
  };
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / MIB)}Mi`;
}
