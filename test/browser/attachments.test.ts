// Files attached to questions in a real browser: chosen, dropped, pasted; kept, sent, seen, and told why when refused.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestBrowser } from "../support/chromium.ts";
import { ask, expectAccessible, openPage, type PagesBed, startPages } from "../support/pages.ts";
import { until } from "../support/services.ts";

let bed: PagesBed;
let browser: TestBrowser;
const errors: string[] = [];

beforeAll(async () => {
  // The built-in responder answers: it says what it reads off a file.
  bed = await startPages({ model: null });
  browser = await bed.browser();
});
afterAll(() => bed?.stop());

const CSV = "region,sum\nnorth,12\nsouth,30\n";
const open = (path = "/"): Promise<Page> => openPage(browser.context, bed.front.url, path, errors);
const field = (page: Page) => page.locator(".composer textarea");
const drafts = (page: Page, state: "ready" | "failed" | "uploading") =>
  page.locator(`.draft-files .file[data-state=${state}]`);

async function choose(page: Page, ...files: { name: string; text: string | Buffer }[]): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: /^Attach files|^파일 첨부/ }).click();
  await (await chooser).setFiles(
    files.map(({ name, text }) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) })),
  );
}

/** Fires a drag or paste event that carries one file, as the browser would. */
async function bring(page: Page, selector: string, type: "dragover" | "drop" | "paste", name: string): Promise<void> {
  await page.locator(selector).evaluate(
    (element, { type, name }) => {
      const data = new DataTransfer();
      data.items.add(new File(["one line\n"], name, { type: "text/plain" }));
      const init = { bubbles: true, cancelable: true };
      element.dispatchEvent(
        type === "paste"
          ? new ClipboardEvent(type, { ...init, clipboardData: data })
          : new DragEvent(type, { ...init, dataTransfer: data }),
      );
    },
    { type, name },
  );
}

async function ended(page: Page, count: number): Promise<void> {
  await until(
    `${count} turns are answered`,
    async () => (await page.locator(".turn[data-state=answered]").count()) === count,
  );
}

test("files are chosen, dropped and pasted, survive a reload, and are sent, seen, answered about and exported", async () => {
  const page = await open();
  await choose(page, { name: "매출.csv", text: CSV });
  await drafts(page, "ready").getByText("매출.csv").waitFor();
  await bring(page, ".chat", "dragover", "notes.md");
  await page.locator(".chat.over").waitFor();
  await bring(page, ".chat", "drop", "notes.md");
  await drafts(page, "ready").getByText("notes.md").waitFor();
  await page.locator(".chat.over").waitFor({ state: "detached" });
  await bring(page, ".composer textarea", "paste", "pasted.log");
  await drafts(page, "ready").getByText("pasted.log").waitFor();
  await page.getByRole("button", { name: "Remove pasted.log" }).click();
  await field(page).fill("what is in these?");
  await expectAccessible(page);
  await page.reload();
  await until("both files are back", async () => (await drafts(page, "ready").count()) === 2);
  expect(await field(page).inputValue()).toBe("what is in these?");

  await field(page).press("Enter");
  await ended(page, 1);
  await page.locator(".draft-files").waitFor({ state: "detached" });
  const files = page.locator(".question .attached a");
  expect(await files.allInnerTexts()).toEqual([
    expect.stringContaining("매출.csv"),
    expect.stringContaining("notes.md"),
  ]);
  await page.locator(".markdown td", { hasText: "north" }).waitFor();
  await page.locator(".markdown pre", { hasText: "one line" }).waitFor();
  const download = page.waitForEvent("download");
  await files.first().click();
  expect(await readFile(await (await download).path(), "utf8")).toBe(CSV);
  expect((await download).suggestedFilename()).toBe("매출.csv");
  await expectAccessible(page);

  await page.getByTitle("More for this chat").click();
  const exported = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export as Markdown" }).click();
  expect(await readFile(await (await exported).path(), "utf8")).toContain("Attached files:\n\n- `매출.csv` (29 B)");

  await page.getByRole("button", { name: "Ask again" }).click();
  await page.getByText("2/2").waitFor();
  await ended(page, 1);
  expect(await page.locator(".turn .attached a").count()).toBe(2);
  await page.locator(".turn").first().getByRole("button", { name: "Edit" }).click();
  await until("its files are back", async () => (await drafts(page, "ready").count()) === 2);
  await page.getByRole("button", { name: "Remove notes.md" }).click();
  await ask(page, "only this one");
  await page.getByText("3/3").waitFor();
  await ended(page, 1);
  expect(await page.locator(".turn .attached a").allInnerTexts()).toEqual([expect.stringContaining("매출.csv")]);
  // The version before has its two files still, also on the next look.
  await page.getByRole("button", { name: "Version before" }).click();
  await page.getByText("2/3").waitFor();
  expect(await page.locator(".turn .attached a").count()).toBe(2);
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Version before");
  await page.reload();
  await page.getByText("2/3").waitFor();
  await expectAccessible(page);
  await page.close();
});

test("during a running turn a draft and its file survive a reload, wait in line together and go together", async () => {
  const page = await open();
  await ask(page, "sql: SELECT pg_sleep(600)");
  await page.locator(".tool[data-state=running]").waitFor();
  await choose(page, { name: "later.csv", text: CSV });
  await drafts(page, "ready").waitFor();
  await field(page).fill("and this?");
  await page.reload();
  await drafts(page, "ready").getByText("later.csv").waitFor();
  expect(await field(page).inputValue()).toBe("and this?");
  // Another conversation has a draft of its own; this one's is found again.
  const path = new URL(page.url()).pathname;
  await page.getByRole("link", { name: "New chat" }).first().click();
  await page.getByText("What would you like to know?").waitFor();
  await page.locator(".draft-files").waitFor({ state: "detached" });
  await page.goBack();
  await drafts(page, "ready").getByText("later.csv").waitFor();
  expect(new URL(page.url()).pathname).toBe(path);
  await field(page).press("Enter");
  await page.getByText("Will be sent when the present answer ends.").waitFor();
  await page.reload();
  await page.locator(".unsent .attached", { hasText: "later.csv" }).waitFor();
  await page.locator(".progress .stop").click();
  await ended(page, 1);
  expect(await page.locator(".turn").nth(1).locator(".attached a").allInnerTexts()).toEqual([
    expect.stringContaining("later.csv"),
  ]);
  await page.close();
});

test("a question waits for its upload; a broken one says why, and goes at a second try", async () => {
  const page = await open();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/api/attachments?*", async (route) => {
    await held;
    await route.abort();
  });
  await choose(page, { name: "slow.csv", text: CSV });
  await drafts(page, "uploading").locator("progress").waitFor();
  await ask(page, "what is it");
  await page.getByText("The question is sent as soon as its files are there.").waitFor();
  expect(await page.locator(".turn").count()).toBe(0);
  release();
  await drafts(page, "failed").getByText("The server could not be reached.").waitFor();
  await page.getByText("remove the file that failed or try it again").waitFor();
  expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  await page.unroute("**/api/attachments?*");
  await drafts(page, "failed").getByRole("button", { name: "Try again" }).click();
  await drafts(page, "ready").waitFor();
  expect(await field(page).inputValue()).toBe("what is it");
  await field(page).press("Enter");
  await ended(page, 1);
  expect(await page.locator(".turn .attached a").count()).toBe(1);
  await page.close();
});

test("what cannot be attached is told in words and can be taken away; so is a sixth file", async () => {
  const page = await open();
  await choose(
    page,
    { name: "talk.wav", text: Buffer.from([82, 73, 70, 70, 0, 1]) },
    { name: "big.log", text: "x".repeat(2 ** 20 + 1) },
    { name: "nothing.txt", text: "" },
  );
  await page.getByText("recordings belong on the Recordings page").waitFor();
  await page.getByText("Too large: a text may have at most 1 MiB, a document 8 MiB, an image 2 MiB").waitFor();
  await page.getByText("The file is empty.").waitFor();
  await expectAccessible(page);
  for (const name of ["talk.wav", "big.log", "nothing.txt"]) {
    await page.getByRole("button", { name: `Remove ${name}` }).click();
  }
  await page.locator(".draft-files").waitFor({ state: "detached" });
  await choose(page, ...["a", "b", "c", "d", "e", "f", "g"].map((name) => ({ name: `${name}.txt`, text: name })));
  await page.getByText("A question may have 5 files; 2 were not taken.").waitFor();
  await until("five are there", async () => (await drafts(page, "ready").count()) === 5);
  for (let n = 0; n < 5; n++)
    await page
      .getByRole("button", { name: /^Remove / })
      .first()
      .click();
  await page.close();
});

test("a file the server has forgotten is told, and the question comes back to be mended", async () => {
  const page = await open();
  await choose(page, { name: "forgotten.txt", text: "long ago" });
  await drafts(page, "ready").waitFor();
  await bed.services.sql.query("DELETE FROM owl.attachment WHERE name = 'forgotten.txt'");
  await ask(page, "is it there?");
  await page.getByText("The server no longer has an attached file.").waitFor();
  await page.getByRole("button", { name: "Take back" }).click();
  await drafts(page, "failed").getByText("The server no longer has this file.").waitFor();
  expect(await field(page).inputValue()).toBe("is it there?");
  await page.getByRole("button", { name: "Remove forgotten.txt" }).click();
  await field(page).press("Enter");
  await ended(page, 1);
  await page.close();
});

test("on a phone, in Korean and in the dark it fits, and reads without a serious fault", async () => {
  const phone = await bed.browser({ phone: true, dark: true, language: "ko-KR" });
  const page = await openPage(phone.context, bed.front.url, "/", errors);
  await choose(
    page,
    { name: "아주 긴 이름의 분기별 지역별 매출 현황 보고서 최종본 수정.csv", text: CSV },
    { name: "그림.png", text: Buffer.from([137, 80, 78, 71, 0]) },
  );
  await page.getByText("텍스트, 문서, 이미지가 아닙니다.").waitFor();
  await drafts(page, "ready").waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await expectAccessible(page);
  await page.getByRole("button", { name: "그림.png 첨부 취소" }).click();
  // There Enter is a new line, and the button sends.
  await ask(page, "이 파일에 뭐가 있어?");
  expect(await field(page).inputValue()).toBe("이 파일에 뭐가 있어?\n");
  await page.getByRole("button", { name: "보내기", exact: true }).click();
  await ended(page, 1);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await expectAccessible(page);
  await phone.stop();
});

test("no page reported an error or a breach of its policy", () => {
  expect(errors).toEqual([]);
});
