// The whole of Owl under a browser: owld with its proxy, restarts asked for, processes killed, while an answer grows.

import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPages } from "../../services/web/pages/build.ts";
import { startBrowser, type TestBrowser } from "../support/chromium.ts";
import { startTestModel, type TestModel } from "../support/model.ts";
import { createOwldHome, type Owld, type OwldHome } from "../support/owld.ts";
import { ask, lastAnswer, openPage } from "../support/pages.ts";
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

test("no page reported an error or a breach of its policy", () => {
  expect(errors).toEqual([]);
});
