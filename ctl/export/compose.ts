// The configuration as a compose file: the same services, budgets and graces for a machine that keeps containers.
// Pure. Compose has no surge: its file says so where it matters (see the head of the output).

import type { HealthCheck } from "../../config/config.ts";
import { CODE, type ExportedService, type ExportRequest, exportedServices, PORT } from "./plan.ts";

/** The compose document for `request`. Secrets are `${NAME:?}` references, filled in from the environment or .env. */
export function composeDocument(request: ExportRequest): Record<string, unknown> {
  const services = exportedServices(request);
  const entries = services.map((service) => [service.name, serviceEntry(service, request)] as const);
  const steps = request.config.bundled ? { migrate: step(request, "migrate"), prepare: step(request, "prepare") } : {};
  const files = services.flatMap(({ secretFiles }) =>
    secretFiles.map(({ key }) => [key, { file: `./secrets/${key}` }] as const),
  );
  return {
    services: { ...steps, ...Object.fromEntries(entries) },
    ...(request.config.bundled ? { volumes: { home: {} } } : {}),
    ...(files.length === 0 ? {} : { secrets: Object.fromEntries(files) }),
  };
}

function serviceEntry(service: ExportedService, request: ExportRequest): Record<string, unknown> {
  const test = probeCommand(service.check);
  return {
    image: request.image,
    command: service.command.map((word) => word.replaceAll("$(OWL_INSTANCE)", service.name)),
    working_dir: CODE,
    environment: {
      OWL_INSTANCE: service.name,
      PGAPPNAME: `owl/${service.name}`,
      ...escaped(service.plainEnv),
      ...Object.fromEntries(service.secretEnv.map((name) => [name, reference(name)])),
    },
    ...(service.secretFiles.length === 0
      ? {}
      : { secrets: service.secretFiles.map(({ name, key }) => ({ source: key, target: name })) }),
    restart: "unless-stopped",
    init: true,
    stop_signal: service.signal,
    stop_grace_period: `${service.graceS}s`,
    deploy: {
      replicas: service.replicas,
      update_config: { parallelism: 1, order: "start-first", failure_action: "rollback" },
      ...(service.memoryLimitBytes === null
        ? {}
        : { resources: { limits: { memory: String(service.memoryLimitBytes) } } }),
    },
    ...(test
      ? {
          healthcheck: {
            test,
            interval: `${service.intervalS}s`,
            timeout: `${service.timeoutS}s`,
            retries: 3,
            start_period: `${service.startupS}s`,
          },
        }
      : {}),
    ...(service.routes.length > 0 ? { expose: [String(PORT)] } : {}),
    ...(service.bundled
      ? { volumes: ["home:/var/lib/owl"], depends_on: { prepare: { condition: "service_completed_successfully" } } }
      : {}),
    read_only: true,
    tmpfs: ["/tmp"],
    security_opt: ["no-new-privileges:true"],
    cap_drop: ["ALL"],
  };
}

function step(request: ExportRequest, name: "migrate" | "prepare"): Record<string, unknown> {
  const script = name === "migrate" ? "supervisor/postgres/migrate-once.ts" : "services/prepare/main.ts";
  return {
    image: request.image,
    command: ["node", `${CODE}/${script}`],
    working_dir: CODE,
    environment: {
      OWL_INSTANCE: name,
      OWL_HOME: "/var/lib/owl",
      OWL_RELEASE: request.version,
      OWL_APP_CONFIG: reference("OWL_APP_CONFIG"),
      OWL_ADMIN_PASSWORD: "${OWL_ADMIN_PASSWORD:-}",
    },
    restart: "no",
    volumes: ["home:/var/lib/owl"],
    ...(name === "prepare" ? { depends_on: { migrate: { condition: "service_completed_successfully" } } } : {}),
  };
}

/** Compose refuses to start without it, naming the variable. */
function reference(name: string): string {
  return `\${${name}:?set ${name}}`;
}

/** A plain `$` would be read as the beginning of a reference. */
function escaped(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replaceAll("$", "$$$$")]));
}

function probeCommand(check: HealthCheck): readonly string[] | null {
  const url = `http://127.0.0.1:${PORT}`;
  switch (check.kind) {
    case "http":
      return [
        "CMD",
        "node",
        "-e",
        `fetch(${JSON.stringify(url + check.path)}).then(r=>process.exit(r.ok?0:1),()=>process.exit(1))`,
      ];
    case "command":
      return ["CMD", ...check.command];
    case "connect":
      return [
        "CMD",
        "node",
        "-e",
        `require("net").connect(${PORT},"127.0.0.1").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))`,
      ];
    case "uptime":
      return null;
  }
}
