// The settings a managed PostgreSQL runs with, as the text of its configuration files and as a fingerprint.
// Pure. Invariant: equal settings and programs give an equal fingerprint, whatever their path, name or file date.

import { createHash } from "node:crypto";
import type { PostgresConfig } from "../../config/config.ts";
import { OwlError } from "../../config/errors.ts";

/** What a managed server decides itself; naming one of these under `postgres.settings` is an error. */
const RESERVED = [
  "data_directory",
  "config_file",
  "hba_file",
  "ident_file",
  "external_pid_file",
  "unix_socket_directories",
  "logging_collector",
];

export interface ServerSettings {
  /** By name, sorted. */
  readonly values: Readonly<Record<string, string>>;
  readonly port: number;
  /** True when `listen_addresses` asks for TCP. */
  readonly tcp: boolean;
}

/** Our settings under those of `postgres.settings`. Throws `postgres.setting` for a name we keep or cannot write. */
export function serverSettings(config: Pick<PostgresConfig, "maxConnections" | "settings">): ServerSettings {
  for (const name of Object.keys(config.settings)) {
    if (RESERVED.includes(name.toLowerCase())) {
      throw new OwlError("postgres.setting", `postgres.settings.${name} is Owl's own to decide.`, {
        next: `Remove ${name} from postgres.settings in owl.yaml.`,
      });
    }
    if (!/^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/.test(name)) {
      throw new OwlError("postgres.setting", `postgres.settings: "${name}" is no name of a PostgreSQL setting.`);
    }
  }
  const given = Object.fromEntries(Object.entries(config.settings).map(([name, value]) => [name.toLowerCase(), value]));
  const values: Record<string, string> = {
    cluster_name: "owl",
    listen_addresses: "",
    log_line_prefix: "%m [%p] %q%a ",
    log_timezone: "UTC",
    max_connections: String(config.maxConnections),
    password_encryption: "scram-sha-256",
    port: "5432",
    timezone: "UTC",
    ...given,
  };
  const sorted = Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { values: sorted, port: Number(values.port), tcp: (values.listen_addresses ?? "").trim() !== "" };
}

/** The configuration file's text; `confDir` holds the access files beside it. */
export function settingsText(settings: ServerSettings, socketDir: string, confDir: string): string {
  const paths = {
    hba_file: `${confDir}/pg_hba.conf`,
    ident_file: `${confDir}/pg_ident.conf`,
    unix_socket_directories: socketDir,
  };
  const lines = Object.entries({ ...settings.values, ...paths });
  return [
    "# Written by owld at each start: change postgres.settings in owl.yaml instead.",
    ...lines.map(line),
    "",
  ].join("\n");
}

function line([name, value]: readonly [string, string]): string {
  const quoted = value.replaceAll("\\", "\\\\").replaceAll("'", "''").replaceAll("\n", "\\n");
  return `${name} = '${quoted}'`;
}

/** Who may connect how: a password always, the administrator from this machine only. */
export function accessText(settings: ServerSettings, admin: string): string {
  const rules = ["local all all scram-sha-256", `local replication ${admin} scram-sha-256`];
  if (settings.tcp) {
    rules.push(
      `host all ${admin} samehost scram-sha-256`,
      `host all ${admin} all reject`,
      "host all all all scram-sha-256",
    );
  }
  return ["# Written by owld at each start.", ...rules, ""].join("\n");
}

/** 16 hexadecimal digits; another one means that a running server has to be restarted. */
export function fingerprint(settings: ServerSettings, binariesHash: string): string {
  const text = JSON.stringify([Object.entries(settings.values), binariesHash]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
