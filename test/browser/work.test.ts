import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestBrowser } from "../support/chromium.ts";
import { expectAccessible, openPage, type PagesBed, startPages } from "../support/pages.ts";
import { archiveOf, engineScript, wavBytes } from "../support/recordings.ts";
import { until } from "../support/services.ts";

let bed: PagesBed;
let browser: TestBrowser;
let dir: string;
const errors: string[] = [];

beforeAll(async () => {
  dir = await mkdtemp("/tmp/owl-work-pages-");
  const engine = await engineScript(dir, 0.4);
  await archiveOf(join(dir, "archive"), 10);
  await writeFile(join(dir, "archive", "notes.txt"), "no recording");
  await mkdir(join(dir, "broken"));
  await writeFile(join(dir, "broken", "bad.wav"), wavBytes(0.5).subarray(0, 20));
  await writeFile(join(dir, "broken", "good.wav"), wavBytes(0.5));
  bed = await startPages({
    archiveRoots: [dir],
    model: null,
    transcription: {
      engine: "command",
      command: engine.command,
      baseUrl: null,
      apiKey: null,
      model: null,
      onStop: "handBack",
    },
  });
  browser = await bed.browser();
});

afterAll(async () => {
  await bed?.stop();
  await rm(dir, { recursive: true, force: true });
});

const open = (path: string): Promise<Page> => openPage(browser.context, bed.front.url, path, errors);

describe("recordings", () => {
  test("an upload broken at several points goes on from the server's offset, and what arrives is the file", async () => {
    const page = await open("/recordings");
    const file = wavBytes(180, 48_000);
    const path = join(dir, "long talk.wav");
    await writeFile(path, file);
    // Slow enough to be cut in the middle.
    const devtools = await browser.context.newCDPSession(page);
    await devtools.send("Network.enable");
    await devtools.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 6 * 2 ** 20,
    });
    await page.locator("input[type=file]").setInputFiles(path);
    const percent = page.locator(".work-list .percent").first();
    for (const share of [10, 35, 60]) {
      await until(
        `${share} % are sent`,
        async () => Number.parseInt((await percent.textContent()) ?? "0", 10) >= share,
      );
      bed.front.cut();
    }
    await devtools.send("Network.disable");
    await page.getByRole("link", { name: "long talk.wav" }).waitFor({ timeout: 120_000 });
    const { rows } = await bed.services.sql.query("SELECT sha256, bytes FROM owl.upload WHERE name = 'long talk.wav'");
    expect(rows).toEqual([{ sha256: createHash("sha256").update(file).digest("hex"), bytes: String(file.length) }]);
    await expectAccessible(page);
    await page.close();
  });

  test("segments appear as they end, go on with the page closed, and play at a click", async () => {
    const page = await open("/recordings");
    await page.locator("input[type=file]").setInputFiles({
      name: "interview.wav",
      mimeType: "audio/wav",
      buffer: wavBytes(130, 16_000, true),
    });
    await page.getByRole("link", { name: "interview.wav" }).click();
    await page.locator(".segments li").first().waitFor();
    await page.getByText("Transcribing goes on when you close this page.").waitFor();
    const path = new URL(page.url()).pathname;
    await page.close();
    await until("done without a page", async () => {
      const { rows } = await bed.services.sql.query("SELECT state FROM owl.transcription WHERE name = 'interview.wav'");
      return rows[0]?.state === "done";
    });
    const again = await open(path);
    await again.getByText("done", { exact: true }).waitFor();
    const second = again.locator(".segments button").nth(1);
    const startsAt = (await second.locator("time").innerText())
      .split(":")
      .reduce((sum, part) => sum * 60 + Number(part), 0);
    await second.click();
    await until("it plays from there", () =>
      again.locator("audio").evaluate((element, at) => (element as HTMLAudioElement).currentTime >= at, startsAt),
    );
    await again.locator(".segments button[aria-current=true]").waitFor();
    await expectAccessible(again);
    await again.getByRole("button", { name: "Delete" }).click();
    await again.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await again.waitForURL(/\/recordings$/);
    const left = await bed.services.sql.query("SELECT 1 FROM owl.transcription WHERE name = 'interview.wav'");
    expect(left.rowCount).toBe(0);
    await again.close();
  });

  test("a file that is no recording is refused in words and can be taken away", async () => {
    const page = await open("/recordings");
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "x.wav", mimeType: "audio/wav", buffer: Buffer.from("no sound") });
    await page.getByText("This is no recording: it was not sent.").waitFor();
    await page.locator(".work-list li", { hasText: "x.wav" }).getByRole("button", { name: "Cancel" }).click();
    expect(await page.locator(".work-list li", { hasText: "x.wav" }).count()).toBe(0);
    await page.close();
  });
});

describe("batches", () => {
  test("the plan is shown before anything starts; then progress, pause, going on, done", async () => {
    const page = await open("/batches");
    await page.getByLabel("Folder on the server").fill("/etc");
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.locator(".failure").waitFor();
    await page.getByLabel("Folder on the server").fill(join(dir, "archive"));
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByText("Nothing has been started yet.").waitFor();
    expect(await page.locator(".plan").innerText()).toMatch(/10 recordings[\s\S]*1 file left out/);
    expect((await bed.services.sql.query("SELECT 1 FROM owl.batch")).rowCount).toBe(0);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Start the batch" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await page.locator(".state-done", { hasText: "done" }).first().waitFor();
    await page.locator(".percent", { hasText: "100 %" }).waitFor({ timeout: 120_000 });
    await until(
      "every item is done",
      async () => (await page.locator(".work-list li[data-state=done]").count()) === 10,
    );
    await expectAccessible(page);
    await page.close();
  });

  test("failed ones are told apart, downloaded as CSV and tried again", async () => {
    const page = await open("/batches");
    await page.getByLabel("Folder on the server").fill(join(dir, "broken"));
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByRole("button", { name: "Start the batch" }).click();
    await page
      .getByText("ended with failures")
      .or(page.locator(".page-head .state-done"))
      .first()
      .waitFor({ timeout: 120_000 });
    const failed = page.getByRole("button", { name: "Failed ones as CSV" });
    await failed.waitFor();
    const download = page.waitForEvent("download");
    await failed.click();
    expect(await readFile(await (await download).path(), "utf8")).toMatch(/path,message\r\n.*bad\.wav,/);
    await page.getByRole("button", { name: "Retry the failed ones" }).click();
    await until("it was tried again", async () => {
      const { rows } = await bed.services.sql.query("SELECT attempt FROM owl.transcription WHERE name = 'bad.wav'");
      return rows[0]?.attempt >= 2;
    });
    await page.close();
  });
});

describe("playbooks", () => {
  test("one is written, run, stops at a bad step with the reason, is mended and run again", async () => {
    const page = await open("/playbooks/new");
    await page.getByLabel("Name").fill("Late orders");
    await page.getByLabel("Statement").fill("SELECT count(*) AS n FROM orders");
    await page.getByRole("button", { name: "Add a step" }).click();
    await page.getByLabel("Statement").nth(1).fill("SELECT ${steps.step1.output.rows[0].n} AS n FROM nowhere");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/Stopped at step “step2”.*nowhere/).waitFor();
    expect(await page.locator(".steps li").first().getAttribute("data-state")).toBe("finished");
    await expectAccessible(page);
    await page.getByRole("link", { name: "← Late orders" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Statement").nth(1).fill("SELECT ${steps.step1.output.rows[0].n} AS n");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".page-head .state-done").waitFor();
    expect(await page.locator(".steps li[data-state=finished]").count()).toBe(2);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Edit" }).waitFor();
    await page.close();
  });
});

describe("a step that asks first", () => {
  test("waits for a word about that very call: refused it ends with the reason, allowed it goes on", async () => {
    const page = await open("/playbooks/new");
    await page.getByLabel("Name").fill("Asks first");
    await page.getByLabel("Statement").fill("SELECT 4711 AS n");
    await page.getByRole("checkbox", { name: /Ask/ }).check();
    await page.getByRole("button", { name: "Save" }).click();
    for (const [word, state] of [
      ["Refuse", "failed"],
      ["Allow", "done"],
    ] as const) {
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
      const asked = page.getByRole("region", { name: /May “.*” be called/ });
      await asked.getByText("4711").waitFor();
      await expectAccessible(page);
      await asked.getByRole("button", { name: word }).click();
      await page.locator(`.page-head .state-${state}`).waitFor();
      expect(await asked.count()).toBe(0);
      await page.getByRole("link", { name: "← Asks first" }).click();
    }
    await page.close();
  });
});

describe("assistants", () => {
  test("one is written, asked, and says so in its answer; another chat is begun without it", async () => {
    const page = await open("/assistants/new");
    await page.getByLabel("Name").fill("Analyst");
    await page.getByLabel("Instructions").fill("Tables only.");
    await page.getByLabel("Questions to begin with").fill("SELECT 6 * 7 AS answer");
    await page.getByLabel("Everybody here may choose it").check();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Ask it" }).click();
    await page.getByRole("heading", { name: "Analyst" }).waitFor();
    await page.getByRole("button", { name: "SELECT 6 * 7 AS answer" }).click();
    await page.locator(".composer textarea").press("Enter");
    await page.getByText("Assistant: Analyst.").waitFor();
    await page.getByRole("button", { name: "Bad answer" }).click();
    await page.getByLabel("What was good or wrong?").fill("Too short.");
    await expectAccessible(page);
    await page.locator(".feedback-note button[type=submit]").click();
    await page.getByLabel("What was good or wrong?").waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Analyst" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Analyst").waitFor();
    await expectAccessible(page);
    await dialog.getByLabel("No assistant").check();
    await dialog.getByRole("button", { name: "Use" }).click();
    await page.getByRole("button", { name: "No assistant" }).waitFor();
    await page.getByRole("link", { name: "Administration" }).click();
    await page.getByRole("link", { name: "Feedback" }).click();
    await page.getByText("Too short.").waitFor();
    await page.locator("summary", { hasText: "6 * 7" }).click();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Assistants", exact: true }).click();
    await page.getByRole("link", { name: "Analyst" }).waitFor();
    await expectAccessible(page);
    await page.close();
  });

  test("a prompt is kept, found by a slash and the keys, and filled in", async () => {
    const page = await open("/prompts/new");
    await page.getByLabel("Name, typed after /").fill("합계");
    await page.getByLabel("Text", { exact: true }).fill("SELECT {{first}} + {{second}} AS sum");
    await page.getByText("Filled in when used: first, second").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "/합계" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "New chat" }).click();
    const field = page.locator(".composer textarea");
    await field.pressSequentially("/합");
    await page.getByRole("option", { name: /합계/, selected: true }).waitFor();
    expect(await field.getAttribute("aria-activedescendant")).toBe(await page.getByRole("option").getAttribute("id"));
    await expectAccessible(page);
    await field.press("Escape");
    await page.getByRole("option").waitFor({ state: "detached" });
    await field.fill("/");
    await page.getByRole("option", { name: /합계/ }).waitFor();
    await field.press("ArrowDown");
    await field.press("Enter");
    await page.getByRole("dialog").getByLabel("first").fill("40");
    await page.getByRole("dialog").getByLabel("second").fill("2");
    await page.getByRole("dialog").getByLabel("second").press("Enter");
    await until("the question is there", async () => (await field.inputValue()) === "SELECT 40 + 2 AS sum");
    await page.close();
  });
});

describe("the data catalogue", () => {
  test("an analysis is asked for, and its tables and columns are found by words", async () => {
    const page = await open("/schemas");
    await page.getByRole("button", { name: "Analyse" }).click();
    await page.locator(".page-head .state-done").waitFor({ timeout: 120_000 });
    await page.getByLabel("Find a table or column").fill("joined_on");
    await page.getByText("1 table", { exact: true }).waitFor();
    await page.locator(".catalogue td", { hasText: "joined_on" }).first().waitFor();
    await expectAccessible(page);
    await page.close();
  });

  test("no page reported an error or a breach of its policy", () => {
    expect(errors).toEqual([]);
  });
});
