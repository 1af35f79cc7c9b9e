// A tab that is older than the server it talks to: told once, left alone, nothing that was written is lost.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestBrowser } from "../support/chromium.ts";
import { ask, expectAccessible, openPage, type PagesBed, startPages } from "../support/pages.ts";
import { until } from "../support/services.ts";

let bed: PagesBed;
let browser: TestBrowser;
const errors: string[] = [];

beforeAll(async () => {
  bed = await startPages();
  browser = await bed.browser();
  await browser.context.clock.install();
});

afterAll(() => bed?.stop());

const open = (path: string): Promise<Page> => openPage(browser.context, bed.front.url, path, errors);
const count = (line: RegExp): number => bed.front.requests.filter((one) => line.test(one)).length;
const STREAM = /^GET \/api\/events/;
const SHELL = /^GET \/(c\/|admin|$)/;

/** The stream breaks, as with each replacement of a web instance, and has come back. */
async function renewStream(): Promise<void> {
  const before = count(STREAM);
  bed.front.cut();
  await until("a new stream", () => count(STREAM) > before);
}

test("a tab of another build says so once, asks and reloads nothing by itself, and keeps the draft over the reload", async () => {
  const page = await open("/");
  await ask(page, "hello");
  await page.getByText("ok: hello").waitFor();
  const draft = page.locator(".composer textarea");
  await draft.fill("half a question");
  const banner = page.locator(".banner", { hasText: "A new version is installed." });
  // The same build behind a new stream: nothing to say.
  await renewStream();
  await page.locator(".turn[data-state=answered]").waitFor();
  expect(await banner.count()).toBe(0);

  // From here on this tab is of a build that the server has no more.
  await page.evaluate(() => {
    document.querySelector('meta[name="owl-build"]')?.setAttribute("content", "0000000000000000");
  });
  const shells = count(SHELL);
  await renewStream();
  await banner.waitFor();
  await renewStream();
  await renewStream();
  expect(await banner.count()).toBe(1);
  await expectAccessible(page);
  // A minute of the page's own timers: a loop of any sort would ask again and again.
  const asked = count(/^\S+ \/api\//);
  await page.clock.runFor(60_000);
  expect(count(/^\S+ \/api\//) - asked).toBeLessThan(5);
  expect(count(SHELL)).toBe(shells);
  expect(await banner.count()).toBe(1);

  await page.getByRole("button", { name: "Reload" }).press("Enter");
  await banner.waitFor({ state: "detached" });
  await page.locator(".turn[data-state=answered]").waitFor();
  expect(await draft.inputValue()).toBe("half a question");
  expect(count(SHELL)).toBe(shells + 1);
  await renewStream();
  expect(await banner.count()).toBe(0);
  await page.close();
});

test("the banner is Korean where the reader is", async () => {
  const page = await open("/");
  await page.evaluate(() => {
    localStorage.setItem("owl.language", JSON.stringify("ko"));
  });
  await page.reload();
  await page.locator(".composer textarea").waitFor();
  await page.evaluate(() => {
    document.querySelector('meta[name="owl-build"]')?.setAttribute("content", "0000000000000000");
  });
  await renewStream();
  await page.locator(".banner", { hasText: "새 버전이 설치되었습니다." }).waitFor();
  await page.getByRole("button", { name: "새로고침" }).waitFor();
  await page.evaluate(() => localStorage.removeItem("owl.language"));
  await page.close();
});

test("a page whose code is gone leads to one reload, then to a sentence; the draft stays", async () => {
  const page = await open("/");
  await page.locator(".composer textarea").fill("half another");
  await page.route(/admin-page-/, (route) => route.fulfill({ status: 404, body: "" }));
  const shells = count(SHELL);
  await page.getByRole("link", { name: "Administration" }).click();
  await page.getByText("This page could not be loaded.").waitFor();
  await page.clock.runFor(60_000);
  expect(count(SHELL)).toBe(shells + 1);
  await page.unroute(/admin-page-/);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Administration" }).waitFor();
  await page.goto(bed.front.url);
  expect(await page.locator(".composer textarea").inputValue()).toBe("half another");
  await page.close();
});

test("no page reported an error or a breach of its policy", () => {
  expect(errors).toEqual([]);
});
