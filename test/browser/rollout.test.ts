// The whole of Owl under a browser: owld with its proxy, restarts asked for, processes killed, while an answer grows.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Rollout } from "../../config/control-api.ts";
import { buildPages } from "../../services/web/pages/build.ts";
import { startBrowser, type TestBrowser } from "../support/chromium.ts";
import { startTestModel, type TestModel } from "../support/model.ts";
import { createOwldHome, type Owld, type OwldHome } from "../support/owld.ts";
import { ask, expectAccessible, lastAnswer, openPage } from "../support/pages.ts";
import { startTestPostgres, type TestPostgres } from "../support/postgres.ts";
import { PASSWORD, until } from "../support/services.ts";

let postgres: TestPostgres;
let model: TestModel;
let home: OwldHome;
let owld: Owld;
let browser: TestBrowser;
const errors: string[] = [];

beforeAll(async () => {
  await buildPages();
  postgres = await startTestPostgres();
  model = await startTestModel();
  home = await createOwldHome(`
database: {url: "${await postgres.database()}"}
model: {baseUrl: "${model.baseUrl}", name: scripted}
chat: {titles: question}
web: {replicas: 2, pool: 5}
worker: {replicas: 2, pool: 8}
`);
  owld = home.start({ OWL_ADMIN_PASSWORD: PASSWORD, OWL_LANG: "en" });
  await owld.until((status) => status.state === "steady");
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.stop();
  if (owld && owld.child.exitCode === null) {
    owld.child.kill("SIGTERM");
    await owld.exited;
  }
  await home?.cleanUp();
  await model?.stop();
  await postgres?.stop();
});

const words = (count: number): string => Array.from({ length: count }, (_, index) => `w${index + 1}`).join(" ");
const url = (): string => `http://127.0.0.1:${home.port}`;

test("every instance is replaced while an answer grows, and the reader sees nothing but the answer", async () => {
  const page = await openPage(browser.context, url(), "/", errors);
  await ask(page, "say 200 words every 60 ms");
  await page.locator(".markdown", { hasText: "w5" }).waitFor();
  const before = (await owld.status()).services.flatMap((service) => service.instances.map(({ id }) => id));
  const started = await owld.ask<{ id: string }>("POST", "/v1/rollouts", { kind: "restart" });
  expect(started.status).toBeLessThan(300);
  await page.locator(".turn[data-state=answered]").waitFor({ timeout: 120_000 });
  expect(await lastAnswer(page)).toBe(words(200));
  expect(await page.locator(".banner, .failure").count()).toBe(0);
  const after = await owld.until((status) => status.rollout === null && status.state === "steady");
  const ids = after.services.flatMap((service) => service.instances.map(({ id }) => id));
  expect(ids.filter((id) => before.includes(id))).toEqual([]);
  await ask(page, "and after it");
  await page.getByText("ok: and after it").waitFor();
  await page.close();
});

test("kill -9 of a web instance and of owld while an answer grows lose no word of it", async () => {
  const page = await openPage(browser.context, url(), "/", errors);
  await ask(page, "say 400 words every 60 ms");
  await page.locator(".markdown", { hasText: "w5" }).waitFor();
  const web = (await owld.status()).services.find(({ name }) => name === "web");
  owld.child.kill("SIGKILL");
  await owld.exited;
  for (const { pid } of web?.instances.slice(0, 1) ?? []) if (pid !== null) process.kill(pid, "SIGKILL");
  await page.locator(".markdown", { hasText: "w60" }).waitFor();
  owld = home.start({ OWL_ADMIN_PASSWORD: PASSWORD, OWL_LANG: "en" });
  await page.locator(".turn[data-state=answered]").waitFor({ timeout: 120_000 });
  expect(await lastAnswer(page)).toBe(words(400));
  await owld.until((status) => status.state === "steady");
  await page.close();
});

test("kill -9 of every worker while an answer grows ends it with its message, and trying again answers", async () => {
  const page = await openPage(browser.context, url(), "/", errors);
  await ask(page, "say 300 words every 60 ms");
  await page.locator(".markdown", { hasText: "w5" }).waitFor();
  const workers = (await owld.status()).services.find(({ name }) => name === "worker");
  for (const { pid } of workers?.instances ?? []) if (pid !== null) process.kill(pid, "SIGKILL");
  await page.getByText("The server's work was interrupted").waitFor({ timeout: 120_000 });
  expect(await page.locator("[aria-busy=true]").count()).toBe(0);
  await until("the workers are back", async () => (await owld.status()).state === "steady");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".turn[data-state=answered]").waitFor({ timeout: 120_000 });
  expect(await lastAnswer(page)).toBe(words(300));
  await page.close();
});

/** The newest rollout that owld knows. */
const newest = async (): Promise<Rollout> => {
  const [found] = (await owld.ask<Rollout[]>("GET", "/v1/rollouts")).body;
  if (found === undefined) throw new Error("owld knows no rollout");
  return found;
};

test("Restart pressed in the page: owld does it, the page shows it live, and then in the list with steps and ledger", async () => {
  const before = await newest();
  const page = await openPage(browser.context, url(), "/admin", errors);
  await page.getByRole("button", { name: "Restart" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
  await page.locator(".rollout[data-state=running] .steps li[data-state=running]").first().waitFor();
  const done = await owld.until((status) => status.rollout === null && status.state === "steady");
  expect(done.services.flatMap(({ instances }) => instances)).toHaveLength(4);
  const rollout = await newest();
  expect(rollout).toMatchObject({ kind: "restart", state: "succeeded", askedBy: "admin" });
  expect(rollout.id).not.toBe(before.id);

  await page.getByRole("link", { name: "Rollouts" }).click();
  const past = page.locator(`[data-rollout=${rollout.id}]`);
  await past.getByText("succeeded").waitFor();
  await past.getByText(/asked for by admin, .* · took /).waitFor();
  // The one of before was asked for over the control socket.
  await page.locator(`[data-rollout=${before.id}]`).getByText("by an operator on the machine").waitFor();
  await past.locator("summary").press("Enter");
  await past.locator(".steps li").first().waitFor();
  expect(await past.locator(".steps li").count()).toBe(rollout.steps.length);
  await past.getByText("Requests failed").waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await page.close();
});

test("Cancel pressed in the page while an answer holds the rollout up: owld ends it, and the answer is whole", async () => {
  const chat = await openPage(browser.context, url(), "/", errors);
  await ask(chat, "say 500 words every 60 ms");
  await chat.locator(".markdown", { hasText: "w5" }).waitFor();
  const page = await openPage(browser.context, url(), "/admin", errors);
  await page.getByRole("button", { name: "Restart" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
  await page.getByRole("button", { name: "Cancel…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("What was replaced stays replaced").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Cancel the rollout" }).click();
  await owld.until((status) => status.rollout === null && status.state === "steady");
  const rollout = await newest();
  expect(rollout).toMatchObject({ state: "cancelled", askedBy: "admin" });
  await page.getByRole("link", { name: "Rollouts" }).click();
  const past = page.locator(`[data-rollout=${rollout.id}]`);
  await past.getByText("cancelled").waitFor();
  await past.locator("summary").click();
  await past.getByText("admin asked to cancel it.").waitFor();
  expect(await page.getByRole("button", { name: "Cancel…" }).count()).toBe(0);
  await chat.locator(".turn[data-state=answered]").waitFor({ timeout: 120_000 });
  expect(await lastAnswer(chat)).toBe(words(500));
  await chat.close();
  await page.close();
});

test("no page reported an error or a breach of its policy", () => {
  expect(errors).toEqual([]);
});
