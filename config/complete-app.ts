// The sections of owl.yaml that only the bundled application reads -> AppConfig, its defaults filled in.

import { resolve } from "node:path";
import type { AppConfig, ModelConfig } from "./config.ts";
import { DEFAULTS } from "./defaults.ts";
import type { ConfigPath } from "./positions.ts";
import type { OwlYaml } from "./schema.ts";

/** How a value of owl.yaml is read: relative to its folder, its secret resolved, its mistakes told. */
export interface Reading {
  readonly folder: string;
  say(path: ConfigPath, message: string): void;
  secret(path: ConfigPath, text: string): string;
  url(path: ConfigPath, text: string, protocols: readonly string[]): string;
}

/** What the application shares with the rest of the configuration. */
type Shared = Pick<
  AppConfig,
  | "language"
  | "databaseUrl"
  | "turn"
  | "graceMs"
  | "heartbeat"
  | "retention"
  | "uploadsDir"
  | "uploadBytes"
  | "secureCookies"
  | "auth"
>;

/** What the bundled processes are told; what is wrong goes to `read.say`. */
export function completeApp(raw: OwlYaml, read: Reading, shared: Shared): AppConfig {
  const { transcription } = raw;
  const listed = (raw.models ?? []).map((one, index) => ({ ...one, path: ["models", index] as ConfigPath }));
  const all = [...(raw.model === undefined ? [] : [{ ...raw.model, path: ["model"] as ConfigPath }]), ...listed];
  const { say, secret, url, folder } = read;
  const command = transcription?.command ?? null;
  if (transcription?.engine === "command" && command === null) {
    say(
      ["transcription"],
      'transcription.engine is command, so transcription.command is needed, such as [whisper-cli, "{file}"]',
    );
  }
  if (command !== null && !command.some((word) => word.includes("{file}"))) {
    say(["transcription", "command"], 'transcription.command: one argument must hold "{file}", the recording\'s path');
  }
  const baseUrl = transcription?.baseUrl ?? all[0]?.baseUrl ?? null;
  if (transcription?.engine === "openai" && baseUrl === null) {
    say(
      ["transcription", "engine"],
      "transcription.engine is openai, so transcription.baseUrl (or model.baseUrl) is needed",
    );
  }
  if (transcription?.baseUrl !== undefined) url(["transcription", "baseUrl"], transcription.baseUrl, ["http", "https"]);
  const models = all.map(({ path, price, vision, ...one }, index): ModelConfig => {
    url([...path, "baseUrl"], one.baseUrl, ["http", "https"]);
    const first = all.findIndex(({ name }) => name === one.name);
    if (first < index) say([...path, "name"], `two models are called ${one.name}: each needs a name of its own`);
    return {
      baseUrl: secret([...path, "baseUrl"], one.baseUrl),
      apiKey: one.apiKey === undefined ? null : secret([...path, "apiKey"], one.apiKey),
      name: one.name,
      ...(price === undefined ? {} : { price }),
      ...(vision ? { vision } : {}),
    };
  });
  const apiKey = models[0]?.apiKey ?? null;
  return {
    ...shared,
    web: { pool: raw.web?.pool ?? DEFAULTS.pool },
    worker: {
      pool: raw.worker?.pool ?? DEFAULTS.pool,
      concurrency: { ...DEFAULTS.concurrency, ...raw.worker?.concurrency },
      accountShare: raw.worker?.accountShare ?? DEFAULTS.accountShare,
    },
    model: models[0] ?? null,
    models: models.slice(1),
    budget: { monthly: raw.budget?.monthly ?? null },
    chat: { links: raw.chat?.links ?? "team", titles: raw.chat?.titles ?? "model" },
    transcription: {
      engine: transcription?.engine ?? (command === null ? "auto" : "command"),
      command,
      baseUrl,
      apiKey: transcription?.apiKey === undefined ? apiKey : secret(["transcription", "apiKey"], transcription.apiKey),
      model: transcription?.model ?? null,
      onStop: transcription?.onStop ?? "handBack",
    },
    archiveRoots: (raw.archive?.roots ?? []).map((root) => resolve(folder, root)),
    dataSources: Object.fromEntries(
      Object.entries(raw.dataSources ?? {}).map(([name, source]) => [
        name,
        { url: url(["dataSources", name, "url"], source.url, ["postgres", "postgresql"]) },
      ]),
    ),
    mail:
      raw.mail === undefined
        ? null
        : { smtp: url(["mail", "smtp"], raw.mail.smtp, ["smtp", "smtps"]), from: raw.mail.from ?? DEFAULTS.mailFrom },
    limits: { ...DEFAULTS.accountLimits, ...raw.limits },
    tools: {
      http: { allow: raw.tools?.http?.allow ?? [] },
      approval: raw.tools?.approval ?? [],
      approvalOf: raw.tools?.approvalOf ?? "everyone",
      approvers: raw.tools?.approvers ?? "owner",
    },
  };
}
