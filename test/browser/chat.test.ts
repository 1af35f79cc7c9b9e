import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestBrowser } from "../support/chromium.ts";
import { ask, expectAccessible, lastAnswer, openPage, type PagesBed, startPages } from "../support/pages.ts";
import { until } from "../support/services.ts";

let bed: PagesBed;
let browser: TestBrowser;
const errors: string[] = [];

beforeAll(async () => {
  bed = await startPages({
    worker: { pool: 12, concurrency: { chat: 4, transcription: 1, playbook: 1, "schema-analysis": 1 } },
  });
  browser = await bed.browser();
});

afterAll(() => bed?.stop());

const open = (path = "/"): Promise<Page> => openPage(browser.context, bed.front.url, path, errors);
const idOf = (page: Page): string => page.url().split("/c/")[1] ?? "";
const words = (count: number): string => Array.from({ length: count }, (_, index) => `w${index + 1}`).join(" ");

async function storedAnswer(page: Page): Promise<string> {
  const { body } = await bed.client.call("GET", `/api/conversations/${idOf(page)}`);
  return body.turns.at(-1).answer;
}

async function begun(page: Page, word = "w5"): Promise<void> {
  await page.locator(".turn .markdown", { hasText: word }).last().waitFor();
}

async function ended(page: Page, state: "answered" | "stopped" | "failed" = "answered"): Promise<void> {
  await page
    .locator(".turn")
    .last()
    .and(page.locator(`[data-state=${state}]`))
    .waitFor({ timeout: 120_000 });
}

describe("signing in", () => {
  test("a wrong password is said in words, the right one opens the chat; nothing serious for axe", async () => {
    const page = await browser.context.newPage();
    await page.goto(bed.front.url);
    await page.locator("input[name=username]").fill("admin");
    await page.locator("input[name=password]").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("The name or the password is wrong.").waitFor();
    await expectAccessible(page);
    await page.close();
    const chat = await open();
    await chat.getByText("What would you like to know?").waitFor();
    await expectAccessible(chat);
    await chat.close();
  });
});

describe("an answer", () => {
  test("a statement's tool call shows statement, rows and time, and its table sorts and downloads", async () => {
    const page = await open();
    await ask(page, "sql: SELECT g AS n, 'r' || g AS name FROM generate_series(1, 12) AS g");
    await ended(page);
    const tool = page.locator(".tool").last();
    expect(await tool.locator("summary").innerText()).toMatch(/run_sql[\s\S]*12 rows/);
    await tool.locator("summary").click();
    expect(await tool.locator("pre").innerText()).toContain("generate_series(1, 12)");
    await tool.locator("th button").first().click();
    await tool.locator("th button").first().click();
    expect(await tool.locator("tbody tr").first().innerText()).toMatch(/^12\s+r12/);
    const download = page.waitForEvent("download");
    await tool.getByText("Download CSV").click();
    const csv = await readFile(await (await download).path(), "utf8");
    expect(csv).toContain("n,name\r\n1,r1\r\n");
    await page.close();
  });

  test("hostile Markdown makes no script, no foreign picture and no foreign link", async () => {
    const page = await open();
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(bed.front.url)) foreign.push(request.url());
    });
    await ask(
      page,
      "<img src=x onerror=alert(1)> ![p](https://evil.example/a.png) [l](javascript:alert(1)) <script>x</script>",
    );
    await ended(page);
    expect(await page.locator(".markdown img, .markdown script, .markdown a[href^=javascript]").count()).toBe(0);
    expect(await lastAnswer(page)).toContain("<script>x</script>");
    expect(foreign).toEqual([]);
    await page.close();
  });

  test("a reload at any point of a turn ends with the stored text, byte for byte", async () => {
    const page = await open();
    await ask(page, "say 60 words every 60 ms");
    for (const word of ["w6", "w30", "w54"]) {
      await begun(page, word);
      await page.reload();
      await page.locator(".turn .markdown").last().waitFor();
    }
    await ended(page);
    expect(await lastAnswer(page)).toBe(words(60));
    expect((await storedAnswer(page)).trim()).toBe(words(60));
    expect(await page.locator(".turn").count()).toBe(1);
    await page.close();
  });

  test("twenty broken connections in one turn lose and repeat nothing", async () => {
    const page = await open();
    await ask(page, "say 80 words every 50 ms");
    await begun(page, "w3");
    for (let cut = 0; cut < 20; cut++) {
      bed.front.cut();
      await page.waitForTimeout(150);
    }
    await ended(page);
    expect(await lastAnswer(page)).toBe(words(80));
    expect(await page.locator(".turn").count()).toBe(1);
    await page.close();
  });

  test("one who leaves the chat and comes back finds the same turn going on", async () => {
    const page = await open();
    await ask(page, "say 600 words every 60 ms");
    await begun(page);
    const path = new URL(page.url()).pathname;
    await page.getByRole("link", { name: "New chat" }).first().click();
    await page.getByText("What would you like to know?").waitFor();
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe(path);
    await begun(page, "w12");
    await page.locator(".progress .stop").click();
    await ended(page, "stopped");
    expect(await lastAnswer(page)).toBe((await storedAnswer(page)).trim());
    expect(await page.locator(".turn").count()).toBe(1);
    await page.close();
  });

  test("other tabs share one stream; another device follows the same turn and has a stop button", async () => {
    const device = await bed.browser({ phone: true });
    const page = await open();
    await ask(page, "say 600 words every 60 ms");
    await begun(page);
    const before = bed.front.requests.filter((line) => line.startsWith("GET /api/events")).length;
    const tab = await open(new URL(page.url()).pathname);
    await begun(tab, "w10");
    expect(bed.front.requests.filter((line) => line.startsWith("GET /api/events")).length).toBe(before);
    const phone = await openPage(device.context, bed.front.url, new URL(page.url()).pathname, errors);
    await begun(phone, "w15");
    expect(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await phone.locator(".progress .stop").click();
    for (const one of [page, tab, phone]) await ended(one, "stopped");
    expect(await lastAnswer(tab)).toBe(await lastAnswer(page));
    await expectAccessible(phone);
    await device.stop();
    await page.close();
    await tab.close();
  });
});

describe("stopping", () => {
  test("stop reaches the model, keeps the partial text, leaves nothing busy, and the next question goes through", async () => {
    const page = await open();
    await ask(page, "say 300 words every 40 ms");
    await begun(page);
    await page.locator(".progress .stop").click();
    await ask(page, "and then");
    await page.locator(".turn[data-state=stopped]").waitFor();
    await until("the model saw the abort", () =>
      bed.model.log.some((one) => one.event === "aborted" && one.text.startsWith("say 300")),
    );
    await ended(page);
    expect(await page.locator(".turn").count()).toBe(2);
    expect(await page.locator(".turn .markdown").first().innerText()).toMatch(/^w1 w2 w3/);
    expect(await page.locator("[aria-busy=true], .progress, .tool[data-state=running]").count()).toBe(0);
    await page.close();
  });
});

describe("replacements", () => {
  test("a web instance replaced during an answer: the user sees nothing of it", async () => {
    const page = await open();
    await ask(page, "say 120 words every 50 ms");
    await begun(page);
    const next = await bed.services.web();
    await next.client.signIn();
    bed.front.target = next.socket;
    bed.web.child.kill("SIGTERM");
    expect((await bed.web.exited).code).toBe(0);
    bed.web = next;
    Object.assign(bed, { client: next.client });
    await ended(page);
    expect(await lastAnswer(page)).toBe(words(120));
    expect(await page.locator(".banner, .failure").count()).toBe(0);
    await page.close();
  });

  test("a worker that stops during an answer finishes it, another takes the next question", async () => {
    const page = await open();
    await ask(page, "say 40 words every 50 ms");
    await begun(page);
    const next = await bed.services.worker();
    bed.worker.child.kill("SIGTERM");
    await ended(page);
    expect(await lastAnswer(page)).toBe(words(40));
    expect((await bed.worker.exited).code).toBe(0);
    bed.worker = next;
    await ask(page, "still there");
    await page.getByText("ok: still there").waitFor();
    await page.close();
  });

  test("a worker killed during an answer: another one goes on, and every word stands there once", async () => {
    const page = await open();
    await ask(page, "say 120 words every 50 ms");
    await begun(page);
    const next = await bed.services.worker();
    bed.worker.child.kill("SIGKILL");
    bed.worker = next;
    await ended(page);
    expect(await lastAnswer(page)).toBe(words(120));
    expect(await page.locator("[aria-busy=true], .progress").count()).toBe(0);
    await expectAccessible(page);
    await page.reload();
    await page.getByText("w120").waitFor();
    expect(await lastAnswer(page)).toBe(words(120));
    await page.close();
  });

  test("with no worker the page says how many are before, and goes on by itself when one comes", async () => {
    bed.worker.child.kill("SIGTERM");
    await bed.worker.exited;
    const first = await open();
    await ask(first, "first in line");
    await first.getByText("Waiting for a worker").waitFor();
    const second = await open();
    await ask(second, "second in line");
    await second.getByText("In line: 1 before you").waitFor();
    bed.worker = await bed.services.worker();
    await second.getByText("ok: second in line").waitFor();
    await first.getByText("ok: first in line").waitFor();
    await first.close();
    await second.close();
  });
});

describe("writing", () => {
  test("an Enter of the Korean input method sends nothing; the draft survives a reload while an answer runs", async () => {
    const page = await open();
    await ask(page, "say 600 words every 60 ms");
    await begun(page);
    const field = page.locator(".composer textarea");
    await field.fill("안녕하세요");
    await field.evaluate((element) => {
      const fire = (type: string, init: object): boolean =>
        element.dispatchEvent(new KeyboardEvent(type, { bubbles: true, cancelable: true, ...init }));
      element.dispatchEvent(new CompositionEvent("compositionstart", { bubbles: true }));
      fire("keydown", { key: "Enter", isComposing: true });
      element.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true, data: "요" }));
      fire("keydown", { key: "Enter", keyCode: 229 });
    });
    expect(await field.inputValue()).toBe("안녕하세요");
    await page.reload();
    expect(await page.locator(".composer textarea").inputValue()).toBe("안녕하세요");
    await page.locator(".turn").first().waitFor();
    expect(await page.locator(".turn").count()).toBe(1);
    await page.locator(".composer textarea").press("Enter");
    await page.getByText("Will be sent when the present answer ends.").waitFor();
    await page.locator(".progress .stop").click();
    await page.getByText("ok: 안녕하세요").waitFor();
    expect(await page.locator(".turn").count()).toBe(2);
    await page.close();
  });

  test("a question asked without a connection is kept, sent once it is back, and shown once", async () => {
    const page = await open();
    await ask(page, "hello before");
    await ended(page);
    // Another tab may be the one that sends it in the end.
    const tab = await open();
    const target = bed.front.target;
    bed.front.target = null;
    bed.front.cut();
    await ask(page, "asked offline");
    await page.getByText("Not sent yet").waitFor();
    bed.front.target = target;
    await page.getByText("ok: asked offline").waitFor();
    expect(await page.locator(".bubble", { hasText: "asked offline" }).count()).toBe(1);
    const { body } = await bed.client.call("GET", `/api/conversations/${idOf(page)}`);
    expect(body.turns).toHaveLength(2);
    await tab.close();
    await page.close();
  });

  test("scrolling up during an answer is left alone, and one button leads back down", async () => {
    const page = await open();
    await ask(page, `${Array.from({ length: 80 }, (_, index) => `line ${index}`).join("\n\n")}`);
    await ended(page);
    await ask(page, "say 300 words every 50 ms");
    await begun(page);
    await page.locator(".turns").evaluate((element) => {
      element.scrollTop = 0;
    });
    await page.getByRole("button", { name: "Jump to the latest" }).waitFor();
    await begun(page, "w40");
    expect(await page.locator(".turns").evaluate((element) => element.scrollTop)).toBe(0);
    await page.getByRole("button", { name: "Jump to the latest" }).click();
    await until("the end is in sight", () =>
      page
        .locator(".turns")
        .evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight < 45),
    );
    await ended(page);
    await page.close();
  });
});

describe("conversations", () => {
  test("a turn that ends elsewhere is marked unread and noticed, and pulls nobody away", async () => {
    const page = await open();
    await ask(page, "say 200 words every 60 ms");
    await begun(page);
    const path = new URL(page.url()).pathname;
    await page.getByRole("link", { name: "New chat" }).first().click();
    await page.locator(`.notice a[href="${path}"]`, { hasText: "Answered" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    expect(await page.title()).toMatch(/^\(\d+\) Owl$/);
    await page.locator(`.conversations a[href="${path}"].unread`).waitFor();
    await page.locator(`.notice a[href="${path}"]`).click();
    await page.getByText(words(200)).waitFor();
    await until(
      "the mark is gone",
      async () => (await page.locator(`.conversations a[href="${path}"].unread`).count()) === 0,
    );
    await page.close();
  });

  test("a chat moves to a folder and out of it", async () => {
    const page = await open();
    await ask(page, "where do tapirs live");
    await ended(page);
    const link = page.locator(".conversations a", { hasText: "where do tapirs live" });
    await link.waitFor();
    await page.getByTitle("More for this chat").click();
    await page.getByRole("button", { name: "Move to a folder" }).click();
    await page.getByLabel("Folder", { exact: true }).fill("Zoo");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Move here" }).click();
    const folder = page.getByRole("button", { name: "Zoo 1" });
    await folder.waitFor();
    await link.waitFor({ state: "detached" });
    await folder.click();
    await link.waitFor();
    await expectAccessible(page);
    await page.getByTitle("More for “where do tapirs live”").click();
    await page.locator(".menu[open]").getByRole("button", { name: "Move to a folder" }).click();
    await page.getByRole("button", { name: "Out of the folder" }).click();
    await folder.waitFor({ state: "detached" });
    await link.waitFor();
    await page.close();
  });

  test("a chat is titled by its question, found, renamed, exported and deleted by keyboard and menu", async () => {
    const page = await open();
    await ask(page, "the quick brown capybara");
    await ended(page);
    await page.keyboard.press("Control+k");
    await page.locator("[role=combobox]:focus").waitFor();
    await page.keyboard.type("recordings");
    await page.getByRole("option", { name: "Recordings", selected: true }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Recordings" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.locator("[role=combobox]:focus").waitFor();
    await page.keyboard.type("capybara");
    await page.getByRole("option", { name: "capybara", selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "the quick brown capybara" }).waitFor();
    await page.getByRole("heading", { name: "Today" }).waitFor();
    await page.getByRole("searchbox", { name: "Search chats" }).fill("brown capy");
    const link = page.locator(".conversations a", { has: page.locator("mark", { hasText: "brown capy" }) });
    await until(
      "only what was searched is listed",
      async () => (await page.locator(".conversations li").count()) === 1,
    );
    await link.click();
    await page.locator(".turn.sought", { hasText: "the quick brown capybara" }).waitFor();
    await page.getByTitle("More for “the quick brown capybara”").click();
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Title").fill("Animals");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByTitle("More for this chat").click();
    await page.getByRole("link", { name: "Export as Markdown" }).click();
    expect(await readFile(await (await download).path(), "utf8")).toMatch(/^# Animals[\s\S]*capybara/);
    await page.getByTitle("More for this chat").click();
    await page.getByRole("button", { name: "Share…" }).click();
    await page.getByLabel("Who may read it").selectOption("anyone");
    await page.getByRole("button", { name: "Make a link" }).click();
    const address = await page.getByLabel("The link", { exact: true }).inputValue();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    const stranger = await bed.browser({ phone: true });
    const shared = await stranger.context.newPage();
    await shared.goto(address);
    await shared.getByText("Shared by admin").waitFor();
    await shared.locator(".turn[data-state=answered] .answer .markdown").waitFor();
    await expectAccessible(shared);
    await stranger.stop();
    await page.getByTitle("More for this chat").click();
    await page.getByRole("button", { name: "Delete" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("What would you like to know?").waitFor();
    await page.keyboard.press("Control+/");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.close();
  });

  test("the interface speaks Korean to a Korean browser, in the dark too, without a serious fault", async () => {
    const korean = await bed.browser({ language: "ko-KR", dark: true });
    const page = await openPage(korean.context, bed.front.url, "/", errors);
    await page.getByText("무엇이 궁금하신가요?").waitFor();
    await ask(page, "sql: SELECT 1 AS n");
    await ended(page);
    await expectAccessible(page);
    await korean.stop();
  });

  test("no page reported an error or a breach of its policy", () => {
    expect(errors).toEqual([]);
  });
});
