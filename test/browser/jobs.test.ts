// The administrator's jobs in a real browser: figures, filters that the address keeps, one job closely, stop, retry, and
// a list that could not be read.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestBrowser, TestBrowserOptions } from "../support/chromium.ts";
import { expectAccessible, openPage, type PagesBed, startPages } from "../support/pages.ts";
import { createWebClient, PASSWORD, until, type WebClient } from "../support/services.ts";

let bed: PagesBed;
let browser: TestBrowser;
let mina: WebClient;
const errors: string[] = [];
const SECRET = "say 3000 words every 20 ms";

beforeAll(async () => {
  bed = await startPages({ turn: { finishMs: 3_000, wrapUpMs: 2_000, claimMs: 300_000, limitMs: 600_000 } });
  browser = await bed.browser();
  await bed.client.call("POST", "/internal/users", { name: "mina", role: "user", password: PASSWORD });
  mina = createWebClient(bed.web.socket);
  await mina.signIn("mina");
});

afterAll(() => bed?.stop());

const open = (path: string): Promise<Page> => openPage(browser.context, bed.front.url, path, errors);
const addressOf = (page: Page): string => new URL(page.url()).pathname + new URL(page.url()).search;

async function runningTurn(): Promise<string> {
  const { turnId } = await mina.ask(SECRET);
  await until("it runs", async () => (await mina.turn(turnId)).state === "running");
  return turnId;
}

/** Failed transcriptions of mina's, whose files no worker could read either. */
const failed = (count: number) =>
  bed.services.sql.query(
    `INSERT INTO owl.transcription (id, account_id, path, name, state, attempt, message, claimed_at, ended_at)
     SELECT gen_random_uuid(), a.id, '/nowhere/weekly-' || n || '.wav', 'weekly-' || n || '.wav', 'failed', 1,
            'The speech recogniser failed: exit code 1.', now(), now()
       FROM owl.account a, generate_series(1, $1) n WHERE a.name = 'mina'`,
    [count],
  );

describe("jobs", () => {
  test("another one's running turn is seen without its question, looked at closely, and stopped", async () => {
    const turnId = await runningTurn();
    const page = await open("/admin/jobs");
    const row = page.locator(`[data-job="${turnId}"]`);
    await row.getByText("mina").waitFor();
    await page.getByText(/^As of /).waitFor();
    await page.getByRole("link", { name: "1 running", exact: true }).waitFor();
    await expectAccessible(page);
    await row.getByRole("button", { name: "Chat turn" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Question, characters").waitFor();
    await expectAccessible(page);
    expect(await page.locator("body").innerText()).not.toContain("3000 words");
    await dialog.getByRole("button", { name: "Stop" }).click();
    await dialog.getByText("It belongs to mina.").waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Stop" }).click();
    await page.getByText("It was asked to stop.").waitFor();
    expect(await mina.ended(turnId)).toMatchObject({ state: "stopped" });
    // Read anew, the row stays where it is and says that it left; nothing moves before it is asked for.
    await until("it left the list", async () =>
      (await row.allInnerTexts()).every((text) => text.includes("no longer")),
    );
    await page.close();
  });

  test("the address keeps the filter through reload and back, and failed ones are tried again together", async () => {
    await failed(3);
    const page = await open("/admin/jobs");
    await page.getByText("Nothing waits and nothing runs.").waitFor();
    await page.getByLabel("State").selectOption("failed");
    await page.getByText("weekly-2.wav").waitFor();
    expect(addressOf(page)).toBe("/admin/jobs?state=failed");
    await page.getByRole("searchbox", { name: "Owner" }).fill("mina");
    await page.getByRole("searchbox", { name: "Owner" }).press("Enter");
    await page.getByText("weekly-1.wav").waitFor();
    expect(addressOf(page)).toBe("/admin/jobs?state=failed&owner=mina");
    await page.reload();
    await page.getByText("weekly-3.wav").waitFor();
    expect(await page.getByRole("searchbox", { name: "Owner" }).inputValue()).toBe("mina");
    expect(await page.getByLabel("State").inputValue()).toBe("failed");
    await expectAccessible(page);
    await page.goBack();
    await until(
      "the owner is gone",
      async () => (await page.getByRole("searchbox", { name: "Owner" }).inputValue()) === "",
    );
    await page.goBack();
    await page.getByText("Nothing waits and nothing runs.").waitFor();
    await page.goForward();
    await page.getByText("weekly-2.wav").waitFor();
    await page.getByRole("button", { name: "Try all failed ones again" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Try all failed ones again" }).dblclick();
    await page.getByText("3 wait in line again.").waitFor();
    const { rows } = await bed.services.sql.query(
      "SELECT detail->>'retried' AS retried FROM owl.audit WHERE action = 'jobs.retried'",
    );
    expect(rows).toEqual([{ retried: "3" }]);
    await page.close();
  });

  test("what could not be read is said so, with a way on, and never looks like nothing", async () => {
    const page = await open("/admin/audit");
    await page.route(/\/api\/admin\/jobs(\?|\/)/, (route) => route.fulfill({ status: 500, body: "{}" }));
    await page.getByRole("link", { name: "Jobs" }).click();
    await page.locator(".failure").first().waitFor();
    expect(await page.getByText("Nothing waits").count()).toBe(0);
    await expectAccessible(page);
    // Asked again it fails again and says so still; what is read once it can be takes its place.
    await page.locator(".failure button").last().click();
    await page.locator(".failure").last().waitFor();
    await page.unrouteAll();
    await page.getByText("Nothing waits and nothing runs.").waitFor();
    await page.close();
  });

  test.each<[string, TestBrowserOptions, string]>([
    ["a phone, dark, in Korean", { phone: true, dark: true, language: "ko-KR" }, "작업"],
    ["a phone, light, in English", { phone: true }, "Jobs"],
  ])("everything fits and is readable on %s", async (_, options, name) => {
    await failed(1);
    const other = await bed.browser(options);
    const page = await openPage(other.context, bed.front.url, "/admin/jobs?state=failed&owner=mina", errors);
    await page.getByRole("link", { name, exact: true }).waitFor();
    await page.getByText("weekly-1.wav").first().waitFor();
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await page.getByText("weekly-1.wav").first().click();
    await page.getByRole("dialog").locator(".job-facts").waitFor();
    await expectAccessible(page);
    await other.stop();
  });

  test("no page reported an error or a breach of its policy", () => {
    expect(errors).toEqual([]);
  });
});
