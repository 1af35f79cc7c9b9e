// What `config show` prints holds no secret, wherever the secret came from.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig } from "../../../config/load.ts";
import { shownConfig } from "../../../config/shown.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "owl-shown-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function shown(yaml: string, env: Record<string, string> = {}): string {
  writeFileSync(join(folder, "owl.yaml"), yaml);
  return JSON.stringify(shownConfig(loadConfig({ env: { OWL_HOME: folder, ...env }, cwd: folder })));
}

test("passwords of URLs, keys and mail are hidden, the rest is shown", () => {
  const text = shown(
    'database: {url: "postgres://owl:hunter2@db/owl"}\nmodel: {baseUrl: "http://m/v1", apiKey: hunter2, name: m}\n' +
      'dataSources: {sales: {url: "postgres://r:hunter2@s/x"}}\nmail: {smtp: "smtp://m:hunter2@h"}\n',
  );
  expect(text).not.toContain("hunter2");
  expect(text).toContain("postgres://owl:***@db/owl");
});

test("variables of services: by reference, from env files, by name, inside URLs", () => {
  writeFileSync(join(folder, "web.env"), "FROM_FILE=hunter2\n");
  const text = shown(
    'services: {web: {command: [a], secrets: {db: "${S}"}, envFile: web.env, env: {REF: "${S}", MY_TOKEN: hunter2, URL: "redis://:hunter2@r", PLAIN: seen}}}',
    { S: "hunter2" },
  );
  expect(text).not.toContain("hunter2");
  expect(text).toContain('"PLAIN":"seen"');
});

test("where notifications go: neither the mail server's password nor anything of the webhook", () => {
  const text = shown(
    'mail: {smtp: "smtp://m:hunter2@h"}\nnotify: {mail: {to: ops@example.org}, webhook: {url: "${HOOK}"}}\n',
    { HOOK: "https://hooks.example.org/hunter2?token=hunter2" },
  );
  expect(text).not.toContain("hunter2");
  expect(text).not.toContain("hooks.example.org");
  expect(text).toContain("ops@example.org");
});
