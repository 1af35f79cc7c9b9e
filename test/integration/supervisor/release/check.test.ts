// A release's own preflight, run as owld runs it: this checkout stands for the staged release.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Language } from "../../../../config/language.ts";
import { checkRelease } from "../../../../supervisor/release/check.ts";

const ROOT = new URL("../../../..", import.meta.url).pathname.replace(/\/$/, "");
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "owl-check-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function check(yaml: string, path = ROOT, databaseUrl: string | null = null, language?: Language) {
  const file = join(home, "owl.yaml");
  await writeFile(file, yaml);
  return await checkRelease({
    release: { version: "9.8.0", path },
    home,
    environment: { PATH: process.env.PATH, HOME: home, MODEL_KEY: "secret-of-a-test" },
    given: { file, cwd: home, databaseUrl, ownPids: [], largestInstanceBytes: null, ...(language && { language }) },
    signal: new AbortController().signal,
  });
}

test("judges configuration, database and machine by its own code, with the variables owl.yaml names", async () => {
  const lines = await check(
    'proxy: {listen: "127.0.0.1:1"}\nmodel: {baseUrl: "http://127.0.0.1:1/v1", apiKey: "${MODEL_KEY}", name: m}\n',
    ROOT,
    "postgres://nobody@127.0.0.1:1/nothing",
  );
  const verdicts = Object.fromEntries(lines.map(({ check: name, verdict }) => [name, verdict]));
  expect(verdicts).toMatchObject({ configuration: "OK", database: "FAIL", "turn-budget": "OK" });
  expect(JSON.stringify(lines)).not.toContain("secret-of-a-test");
});

test("its lines are in the language asked for, without one in the installation's", async () => {
  const why = async (language?: Language) => {
    const lines = await check('proxy: {listen: "127.0.0.1:1"}\n', ROOT, null, language);
    return lines.find(({ check: name }) => name === "memory")?.why;
  };
  const english = "During a rollout one instance more runs; without room it is not started.";
  expect(await why()).toBe(english);
  expect(await why("en")).toBe(english);
  expect(await why("ko")).toBe("교체 중에는 인스턴스가 하나 더 실행되며, 자리가 없으면 시작하지 않습니다.");
});

test("a configuration its code refuses is told with the place", async () => {
  await expect(check("web: {moons: 2}\n")).rejects.toMatchObject({
    code: "release.config",
    message: expect.stringMatching(/Release 9\.8\.0 does not accept the configuration: [\s\S]*owl\.yaml:1:\d+/),
  });
});

test.each([
  ["throws", "throw new Error('no moon');\n", /owld of release 9\.8\.0 does not start: Error: no moon$/],
  ["ends at once", "process.exit(1);\n", /owld of release 9\.8\.0 does not start: .*exit code 1/],
  ["imports what is not there", 'import "./moon.ts";\n', /does not start: Error .*moon\.ts/],
])("one whose owld %s as soon as it is loaded is refused with its words", async (_what, text, message) => {
  const broken = join(home, "broken");
  await mkdir(join(broken, "supervisor"), { recursive: true });
  await writeFile(join(broken, "supervisor/main.ts"), text);
  const refused = { code: "release.owld", message: expect.stringMatching(message) };
  await expect(check("", broken)).rejects.toMatchObject(refused);
});

test("one that breaks in its preflight is refused, one that has none is taken without", async () => {
  const broken = join(home, "broken");
  await mkdir(join(broken, "supervisor/preflight"), { recursive: true });
  await writeFile(join(broken, "supervisor/preflight/preflight-once.ts"), "throw new Error('no moon');\n");
  await expect(check("", broken)).rejects.toMatchObject({
    code: "release.preflight",
    message: expect.stringMatching(/no moon/),
  });
  expect(await check("", join(home, "older"))).toEqual([]);
});
