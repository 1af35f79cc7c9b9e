// The same owld asked in two languages: what owlctl prints of plans, preflight and refusals is wholly in the caller's.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OwlEvent } from "../../../../config/control-api.ts";
import { ctl } from "../../../support/owlctl.ts";
import { createOwldHome, type OwldHome, program } from "../../../support/owld.ts";

const yaml = (level: string, replicas = 2): string => `
stop: {grace: 500ms}
turn: {finish: 100ms, wrapUp: 100ms}
services:
  deaf:
    command: ["${process.execPath}", "${program("ignores-sigterm.ts")}"]
    listen: none
    health: {uptime: 300ms}
    env: {LEVEL: "${level}"}
    replicas: ${replicas}
  shell: {command: [sh, -c, "sleep 1000; true"], listen: none, health: {uptime: 300ms}, replicas: 1}
`;

let home: OwldHome;
beforeAll(async () => {
  home = await createOwldHome(yaml("1"));
  await home.start({ OWL_LANG: "en" }).until(({ state }) => state === "steady");
  home.write(yaml("2", 3));
}, 60_000);
afterAll(() => home.cleanUp());

const ask = async (language: "ko" | "en", args: readonly string[]) => {
  const { stdout, stderr, code } = await ctl(home.home, args, { OWL_LANG: language });
  // Commands are the same in every language.
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => !/^\s+\$ /.test(line));
  return { code, lines, text: lines.join("\n") };
};

/** Words no command, name or path here has, and hardly an English sentence is without. */
const ENGLISH = /\b(the|is|are|was|not|with|nothing|there|here|its?|what|to)\b/i;

describe.each([
  ["a restart's plan", ["restart", "--plan"], 10, "Expected "],
  ["a plan of other numbers", ["scale", "deaf=4", "--plan"], 10, "- deaf: 2 to 4."],
  ["a reload's plan", ["reload", "--plan"], 10, "- deaf: 2 are replaced, for what runs has changed."],
  ["preflight", ["preflight"], 0, "A wrapper swallows SIGTERM"],
  ["a name nobody has", ["restart", "deef"], 2, 'There is no service "deef".\nDid you mean deaf?'],
  ["a name far from any", ["restart", "database"], 2, "Known: deaf, shell."],
  ["a number out of bounds", ["scale", "deaf=1001"], 2, "deaf=1001: a whole number from 0 to 1000 is expected."],
  ["no rollout to end", ["rollout", "cancel"], 1, "No rollout runs."],
  [
    "a rollback to nothing",
    ["rollback", "--plan"],
    1,
    "No release ran here before this one.\nSee: owlctl rollout list",
  ],
  ["an archive that is not there", ["update", "/no/such.tar", "--plan"], 1, "/no/such.tar cannot be read:"],
  ["why", ["why", "deaf-1"], 0, "deaf-1 is ready."],
])("%s", (_, args, code, english) => {
  test("in English as ever, in Korean without an English sentence", async () => {
    const said = await ask("en", args);
    expect(said.text).toContain(english);
    expect(said.code).toBe(code);
    const korean = await ask("ko", args);
    expect(korean.code).toBe(code);
    expect(korean.lines.filter((line) => ENGLISH.test(line))).toEqual([]);
    expect(korean.text).toMatch(/[가-힣]/);
    expect(korean.text).not.toContain(english);
  }, 60_000);
});

test("what is written down is in the installation's language, whoever reads it", async () => {
  const korean = await createOwldHome(yaml("1"));
  try {
    const owld = korean.start({ OWL_LANG: "ko" });
    const steady = await owld.until(({ state }) => state === "steady");
    const [first] = steady.services[0]?.instances ?? [];
    await ctl(korean.home, ["restart", "deaf", "--timeout", "50s"]);
    await ctl(korean.home, ["stop", "shell"]);
    await owld.until(({ services }) => services[1]?.instances.length === 0);
    const { stdout } = await ctl(korean.home, ["events", "--json", "-n", "500"]);
    const events = stdout.trim().split("\n");
    const messages = events.map((line) => (JSON.parse(line) as OwlEvent).message);
    expect(messages).toContain(`${first?.id}을(를) 뺍니다: 롤아웃 r-1.`);
    expect(messages.filter((message) => !/[가-힣]/.test(message))).toEqual([]);
  } finally {
    await korean.cleanUp();
  }
}, 120_000);
