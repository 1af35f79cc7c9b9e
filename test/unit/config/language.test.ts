// One rule of languages, wherever a wish comes from: a header, a process's environment, and the bootstrap's own reading.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { acceptedLanguage, environmentLanguage } from "../../../config/language.ts";

test.each([
  ["ko", "ko"],
  ["ko-KR,ko;q=0.9,en;q=0.8", "ko"],
  ["en-GB", "en"],
  ["fr, KO", "ko"],
  ["kok, english", null],
  ["*", null],
  [undefined, null],
])("of the header %j the language is %j", (header, language) => expect(acceptedLanguage(header)).toBe(language));

const ENVIRONMENTS = [
  [{ OWL_LANG: "ko", LANG: "en_US.UTF-8" }, "ko"],
  [{ OWL_LANG: "", LC_ALL: "ko_KR.UTF-8" }, "ko"],
  [{ LC_MESSAGES: "en_US", LANG: "ko_KR" }, "en"],
  [{ LANG: "KO" }, "ko"],
  [{ LANG: "kok_IN" }, "en"],
  [{ LANG: "C.UTF-8" }, "en"],
  [{}, "en"],
] as const;

test.each(ENVIRONMENTS)("of the environment %j the language is %j", (env, language) => {
  expect(environmentLanguage(env)).toBe(language);
});

test("the bootstrap, which runs before TypeScript does, reads the environment alike", () => {
  const say = fileURLToPath(new URL("../../../ctl/bootstrap/say.mjs", import.meta.url));
  const script = `const { words } = await import(${JSON.stringify(say)}); process.stdout.write(words.starting);`;
  for (const [env, language] of ENVIRONMENTS) {
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" });
    expect(/[가-힣]/.test(said) ? "ko" : "en", JSON.stringify(env)).toBe(language);
  }
});
