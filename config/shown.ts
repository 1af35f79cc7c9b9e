// The configuration as it may be shown (`owlctl config show`, GET /v1/config): every secret is "***".

import type { AuthConfig } from "./auth-config.ts";
import type { AppConfig, Config, ModelConfig, ServiceConfig } from "./config.ts";
import type { NotifyConfig } from "./notify-config.ts";
import { isSecretName, maskUrl } from "./secrets.ts";

const HIDDEN = "***";

/** A plain copy of `config` without any secret, fit for JSON or YAML. */
export function shownConfig(config: Config): Record<string, unknown> {
  return {
    ...config,
    database: config.database === null ? null : { url: maskUrl(config.database.url) },
    postgres: { ...config.postgres, settings: hideByName(config.postgres.settings) },
    services: config.services.map(shownService),
    notify: config.notify === null ? null : shownNotify(config.notify),
    app: config.app === null ? null : shownApp(config.app),
  };
}

function shownService(service: ServiceConfig): Record<string, unknown> {
  const { secretEnv = [], secrets, ...rest } = service;
  const env = Object.entries(service.env).map(([name, value]) => [
    name,
    secretEnv.includes(name) || isSecretName(name) ? HIDDEN : withoutPassword(value),
  ]);
  const hiddenFiles = Object.fromEntries(Object.keys(secrets ?? {}).map((name) => [name, HIDDEN]));
  return { ...rest, env: Object.fromEntries(env), ...(secrets === undefined ? {} : { secrets: hiddenFiles }) };
}

function shownNotify({ mail, webhook, ...rest }: NotifyConfig): Record<string, unknown> {
  return {
    ...rest,
    mail: mail === null ? null : { ...mail, smtp: maskUrl(mail.smtp) },
    // Whoever knows such a URL may post to it: its path is the secret.
    webhook: webhook === null ? null : { url: HIDDEN },
  };
}

function shownApp(app: AppConfig): Record<string, unknown> {
  return {
    ...app,
    databaseUrl: app.databaseUrl === null ? null : maskUrl(app.databaseUrl),
    model: app.model === null ? null : shownModel(app.model),
    models: app.models.map(shownModel),
    transcription: { ...app.transcription, apiKey: hidden(app.transcription.apiKey) },
    dataSources: Object.fromEntries(
      Object.entries(app.dataSources).map(([name, { url }]) => [name, { url: maskUrl(url) }]),
    ),
    ...(app.auth === undefined ? {} : { auth: shownAuth(app.auth) }),
    mail: app.mail === null ? null : { ...app.mail, smtp: maskUrl(app.mail.smtp) },
  };
}

const shownAuth = ({ local, oidc }: AuthConfig) => ({
  local,
  oidc: oidc === null ? null : { ...oidc, clientSecret: hidden(oidc.clientSecret) },
});

const shownModel = (model: ModelConfig) => ({
  ...model,
  baseUrl: withoutPassword(model.baseUrl),
  apiKey: hidden(model.apiKey),
});

function hidden(value: string | null): string | null {
  return value === null ? null : HIDDEN;
}

function hideByName(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isSecretName(name) ? HIDDEN : value]));
}

/** A value that happens to be a URL with a password loses it; any other is kept. */
function withoutPassword(value: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]*@/i.test(value) ? maskUrl(value) : value;
}
