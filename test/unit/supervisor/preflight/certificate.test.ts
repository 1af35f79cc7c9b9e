import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../../../../config/config.ts";
import { readCertificate } from "../../../../supervisor/preflight/certificate.ts";
import { FIRST_CERTIFICATE, SECOND_CERTIFICATE } from "../../../support/proxy/certificates.ts";

function configOf(key: string, host = "*"): Config {
  const folder = mkdtempSync(join(tmpdir(), "owl-cert-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tls = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  writeFileSync(tls.cert, FIRST_CERTIFICATE.cert);
  writeFileSync(tls.key, key);
  return { proxy: { tls }, services: [{ routes: [{ host }] }] } as unknown as Config;
}

test("a pair that fits tells its time and the hosts it does not name", () => {
  expect(readCertificate(configOf(FIRST_CERTIFICATE.key, "localhost"))).toMatchObject({ problem: null, unnamed: [] });
  const facts = readCertificate(configOf(FIRST_CERTIFICATE.key, "*.example.org"));
  expect(facts).toMatchObject({ unnamed: ["*.example.org"], untilMs: Date.parse("2126-11-05T17:41:52Z") });
});

test("the key of another certificate, and what is no key, are told apart", () => {
  expect(readCertificate(configOf(SECOND_CERTIFICATE.key))?.problem).toMatchObject({ kind: "key" });
  expect(readCertificate(configOf("no key"))?.problem).toMatchObject({ kind: "unusable" });
});
