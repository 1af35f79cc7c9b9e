// `auth` of owl.yaml: who may come in, and what could let nobody in.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Config } from "../../../config/config.ts";
import { loadConfig } from "../../../config/load.ts";
import { shownConfig } from "../../../config/shown.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "owl-auth-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function load(yaml: string, env: Record<string, string> = {}): Config {
  writeFileSync(join(folder, "owl.yaml"), yaml);
  return loadConfig({ env: { OWL_HOME: join(folder, "home"), ...env }, cwd: folder, userProblem: () => null });
}

const oidc = (more: string, issuer = "https://id.example.org") =>
  `auth: {oidc: {issuer: "${issuer}", clientId: owl${more}}}`;

test("without it people have passwords", () => {
  expect(load("").app?.auth).toBeUndefined();
});

test("an issuer and a client are enough, and the secret is never shown", () => {
  const config = load(oidc(', clientSecret: "${SECRET}"'), { SECRET: "hunter2" });
  expect(config.app?.auth).toEqual({
    local: true,
    oidc: {
      issuer: "https://id.example.org",
      clientId: "owl",
      clientSecret: "hunter2",
      url: null,
      scopes: ["openid", "profile", "email"],
      groups: "groups",
      roles: null,
      domains: null,
      provision: true,
      linkByEmail: false,
      button: null,
      sessionMs: 43_200_000,
    },
  });
  expect(JSON.stringify(shownConfig(config))).not.toContain("hunter2");
});

test("openid is asked for whatever the scopes, and roles may name administrators alone", () => {
  const { auth } =
    load(oidc(", scopes: [groups], roles: {administrator: [ops]}, url: 'https://owl.example.org/'")).app ?? {};
  expect(auth?.oidc).toMatchObject({
    scopes: ["openid", "groups"],
    roles: { administrator: ["ops"], member: null },
    url: "https://owl.example.org",
  });
});

test.for([
  ["auth: {local: false}", "auth.local is false, so auth.oidc is needed"],
  [oidc("", "http://id.example.org"), "auth.oidc.issuer: expected an https:// URL"],
  [oidc("", "id.example.org"), "auth.oidc.issuer: expected an https:// URL"],
  [oidc(", url: https://owl.example.org/x"), "auth.oidc.url: expected an http(s) URL without a path"],
  [oidc(", scopes: [openid], linkByEmail: true"), "auth.oidc.linkByEmail needs the mail address"],
  [oidc(", scopes: [openid], domains: [example.org]"), "auth.oidc.domains needs the mail address"],
  [oidc(", session: 30s"), "auth.oidc.session (30s) must be from 1m to 30d"],
] as const)("%s is refused", ([yaml, message]) => {
  expect(() => load(yaml)).toThrow(message);
});

test("an issuer on this machine may do without TLS", () => {
  expect(load(oidc("", "http://127.0.0.1:9000")).app?.auth?.oidc?.issuer).toBe("http://127.0.0.1:9000");
});
