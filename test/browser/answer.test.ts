// Answers as they are laid out, conversations of any length, and drafts that are not lost, in a real browser.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestBrowser } from "../support/chromium.ts";
import { ask, expectAccessible, openPage, type PagesBed, startPages } from "../support/pages.ts";
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
const field = (page: Page) => page.locator(".composer textarea");

/** Asks `text`, which the model repeats as its answer, and waits for the end of it. */
async function answered(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await page.locator(".composer button[type=submit]").click();
  await page.locator(".turn[data-state=answered]").last().waitFor();
}

const EVERYTHING = `report

## 분기 보고서

**“3분기 매출”**은 **12.4%(확정)** 늘었습니다[^1]. [원본][src]과 https://example.org/b 참고, ~~삭제~~.

평균은 \\(\\bar{x}_t\\)이고 분산은 $\\sigma^2$입니다.

$$
\\hat{\\beta} = (X^\\top X)^{-1} X^\\top y
$$

| 달 | 매출 |
|---|---:|
| 2025-01-01 | 1,204 |
| 2025-02-01 | 990 |

#### 코드

\`\`\`sql
SELECT region FROM sales WHERE n > 1;
\`\`\`

- [x] 끝
- [ ] 남음

[^1]: 10월 **확정치**.
[src]: https://example.org/report
`;

test("every construct of an answer is laid out, with figures as a chart, and breaches no policy", async () => {
  const page = await open();
  await answered(page, EVERYTHING);
  const answer = page.locator(".answer").last();
  expect(await answer.locator("strong").allInnerTexts()).toEqual(["“3분기 매출”", "12.4%(확정)", "확정치"]);
  await until("the formulas are drawn", async () => (await answer.locator(".formula math").count()) === 3);
  await answer.locator(".hljs-keyword", { hasText: "SELECT" }).waitFor();
  expect(await answer.getByRole("link").allInnerTexts()).toEqual(["원본", "https://example.org/b"]);
  expect(await answer.locator("h2, h3, h4, h5, h6").evaluateAll((all) => all.map((one) => one.tagName))).toEqual([
    "H2",
    "H3",
  ]);
  expect(await answer.getByRole("checkbox").count()).toBe(2);
  await answer.getByRole("button", { name: "Footnote 1" }).click();
  expect(await page.evaluate(() => document.activeElement?.className)).toBe("note");
  await answer.getByRole("button", { name: "Chart" }).click();
  await answer.getByRole("img", { name: /^Chart of 매출 by 달/ }).waitFor();
  await answer.locator(".chart canvas").waitFor();
  await expectAccessible(page);
  await until("the tab bears the chat's title", async () => {
    const title = await page.locator(".conversation-head h1").innerText();
    return title.startsWith("report") && (await page.title()) === `${title.slice(0, 80)} · Owl`;
  });
  await page.close();
});

test("a reading from before the first question that arrives late takes neither title nor state away", async () => {
  const page = await open();
  const late = Promise.withResolvers<void>();
  let held = 0;
  let delivered = 0;
  await page.route(/\/api\/conversations\/[\w-]+\?limit=/, async (route) => {
    const response = await route.fetch();
    const { turns } = (await response.json()) as { readonly turns: readonly unknown[] };
    if (turns.length === 0) {
      held += 1;
      await late.promise;
    }
    await route.fulfill({ response });
    if (turns.length === 0) delivered += 1;
  });
  // The question's way is open when the conversation without it has been read.
  await page.route(/\/api\/conversations\/[\w-]+\/turns$/, async (route) => {
    await until("the empty conversation is read", () => held > 0);
    await route.continue();
  });
  await answered(page, "the title stays");
  const link = page.locator(".conversations .title", { hasText: "the title stays" });
  await link.waitFor();
  late.resolve();
  await until("it has arrived", () => delivered === held);
  await expect.poll(() => page.title()).toBe("the title stays · Owl");
  expect(await link.count()).toBe(1);
  await page.close();
});

test("how it was answered is unfolded, and from a step of it the question is asked again in a conversation of its own", async () => {
  const page = await open();
  await answered(page, "how was this answered");
  const first = page.url();
  await page.locator(".receipt summary").last().click();
  await page.locator(".receipt li").getByRole("button", { name: "Ask again from here" }).first().click();
  await page.waitForURL((url) => url.href !== first && url.pathname.startsWith("/c/"));
  await page.locator(".turn[data-state=answered]", { hasText: "how was this answered" }).waitFor();
  await page.close();
});

test("an answer of endless depth takes nothing else with it", async () => {
  const page = await open();
  await answered(page, `\n\n${"- ".repeat(900)}x`);
  await answered(page, `\n\n${"> ".repeat(3_000)}${"[".repeat(3_000)}`);
  await answered(page, "\n\nafter **it**");
  await page.locator(".turn[data-state=answered]").nth(2).waitFor();
  await page.reload();
  await page.locator(".answer strong", { hasText: "it" }).waitFor();
  await page.locator(".turn").nth(2).waitFor({ state: "attached" });
  expect(await page.locator(".turn").count()).toBe(3);
  await page.close();
});

test("of a thousand turns the newest are read, and the others as the reader goes back", async () => {
  const { rows } = await bed.services.sql.query<{ id: string }>(
    `WITH made AS (INSERT INTO owl.conversation (id, account_id, title)
       SELECT gen_random_uuid(), id, 'long one' FROM owl.account WHERE name = 'admin' RETURNING id, account_id),
     turns AS (INSERT INTO owl.turn (id, conversation_id, account_id, text, state, answer, created_at, claim_deadline_at, ended_at)
       SELECT gen_random_uuid(), made.id, made.account_id, 'question ' || n, 'answered', 'answer **' || n || '**',
              now() - make_interval(secs => 2000 - n), now(), now() FROM made, generate_series(1, 1000) n)
     SELECT id FROM made`,
  );
  const page = await open(`/c/${rows[0]?.id}`);
  await page.locator(".answer strong", { hasText: "1000" }).waitFor();
  expect(await page.locator(".turn").count()).toBe(20);
  const place = page.locator(".turns");
  await place.evaluate((element) => element.scrollTo(0, 300));
  await page.locator(".answer strong", { hasText: /^970$/ }).waitFor({ state: "attached" });
  // What was looked at is still there: the older ones came in above it.
  expect(await place.evaluate((element) => element.scrollTop)).toBeGreaterThan(300);
  await page.close();
});

test("a conversation deleted elsewhere is shown as gone", async () => {
  const page = await open();
  await ask(page, "say 500 words every 60 ms");
  await page.locator(".turn .markdown", { hasText: "w5" }).waitFor();
  await bed.client.call("DELETE", `/api/conversations/${page.url().split("/c/")[1]}`);
  await page.getByText("This chat is not here").waitFor();
  await page.close();
});

test("a paste that is too long is offered as a file, and what another text took the place of comes back", async () => {
  const page = await open();
  await field(page).fill("my own draft");
  await field(page).evaluate((element) => {
    const data = new DataTransfer();
    data.setData("text/plain", "가".repeat(209_000));
    element.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data }));
  });
  await page.getByText("The pasted text has 209,000 characters").waitFor();
  expect(await field(page).inputValue()).toBe("my own draft");
  await page.getByRole("button", { name: "Attach it as a file" }).click();
  await page.locator(".draft-files .file[data-state=ready]", { hasText: "pasted text.txt" }).waitFor();
  await page.getByRole("button", { name: "Which tables are there?" }).click();
  expect(await field(page).inputValue()).toBe("Which tables are there?");
  await page.getByRole("button", { name: "Bring it back" }).click();
  expect(await field(page).inputValue()).toBe("my own draft");
  await field(page).fill("\u0000");
  expect(await page.locator(".composer button[type=submit]").isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Remove pasted text.txt" }).click();
  await field(page).fill("");
  await page.close();
});

test("a page reloaded as soon as its question is sent leads to the conversation it began", async () => {
  const page = await open();
  await field(page).fill("asked and reloaded");
  // In one task with the key: the reload is under way before any answer can be there.
  await field(page).evaluate((element) => {
    element.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    location.reload();
  });
  await page.getByText("ok: asked and reloaded").waitFor();
  expect(page.url()).toMatch(/\/c\/[0-9a-f-]{36}$/);
  expect(await page.locator(".turn").count()).toBe(1);
  await page.close();
});

test("a device whose clock is three hours ahead counts the seconds of a turn", async () => {
  const page = await browser.context.newPage();
  await page.addInitScript(() => {
    const real = Date.now.bind(Date);
    Date.now = () => real() + 3 * 3_600_000;
  });
  await page.goto(bed.front.url);
  await ask(page, "say 400 words every 60 ms");
  await page.locator(".turn .markdown", { hasText: "w9" }).waitFor();
  expect(await page.locator(".progress .elapsed").innerText()).toMatch(/^\d+ (s|min)/);
  await page.close();
});

test("an image is seen before it is sent and in its question, on a phone too, and a large photo is made smaller", async () => {
  const phone = await bed.browser({ phone: true, dark: true, language: "ko-KR" });
  const page = await openPage(phone.context, bed.front.url, "/", errors);
  const picture = await page.screenshot();
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: /^파일 첨부/ }).click();
  // What follows a PNG's end is no part of it: this makes it as large as a photo.
  const photo = Buffer.concat([picture, Buffer.alloc(3 * 2 ** 20)]);
  await (await chooser).setFiles([
    { name: "화면.png", mimeType: "image/png", buffer: picture },
    { name: "사진.png", mimeType: "image/png", buffer: photo },
  ]);
  const drawn = (selector: string) => async () =>
    (await page
      .locator(selector)
      .evaluateAll((images) => images.filter((image) => (image as HTMLImageElement).naturalWidth > 0).length)) === 2;
  await until("both are drawn beside the question", drawn(".draft-files img"));
  await page.getByText("사진.jpg").waitFor();
  await expectAccessible(page);
  await field(page).fill("무엇이 보여?");
  await page.getByRole("button", { name: "보내기", exact: true }).click();
  await page.locator(".turn[data-state=answered]").waitFor();
  await until("both are drawn in the question", drawn(".turn .picture img"));
  const seen = bed.model.log.find(({ text }) => text.startsWith("무엇이 보여?"))?.images;
  expect(seen?.map((url) => url.slice(0, 15))).toEqual(["data:image/png;", "data:image/jpeg"]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await expectAccessible(page);
  await phone.stop();
});

test("no page reported an error or a breach of its policy", () => {
  expect(errors).toEqual([]);
});
