// The bundled application in a real browser: database, web, worker, a scripted model, a door to them, a signed-in page.

import type { BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import { buildPages } from "../../services/web/pages/build.ts";
import { seriousFaults } from "./axe.ts";
import { startBrowser, type TestBrowser, type TestBrowserOptions } from "./chromium.ts";
import { type Front, startFront } from "./front.ts";
import { startTestModel, type TestModel } from "./model.ts";
import {
  type AppConfigChange,
  PASSWORD,
  type Program,
  type Services,
  startServices,
  type WebClient,
} from "./services.ts";

export interface PagesBed {
  readonly services: Services;
  readonly model: TestModel;
  readonly front: Front;
  /** Talks to web directly as the administrator. */
  readonly client: WebClient;
  /** A browser of its own (another device), signed in when asked for a page. */
  browser(options?: TestBrowserOptions): Promise<TestBrowser>;
  /** The present web and worker; a test that ends one puts another in its place. */
  web: Program & { readonly client: WebClient };
  worker: Program;
  stop(): Promise<void>;
}

/** Starts everything once for a test file. `withModel` false: the built-in responder answers. */
export async function startPages(change: AppConfigChange = {}): Promise<PagesBed> {
  await buildPages();
  const model = await startTestModel();
  const services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: null, name: "scripted", vision: true } as AppConfigChange["model"],
    ...change,
  });
  const web = await services.web();
  const worker = await services.worker();
  const front = await startFront(web.socket);
  await web.client.signIn();
  const browsers: TestBrowser[] = [];
  return {
    services,
    model,
    front,
    client: web.client,
    web,
    worker,
    async browser(options) {
      const browser = await startBrowser(options);
      browsers.push(browser);
      return browser;
    },
    async stop() {
      for (const browser of browsers) await browser.stop().catch(() => undefined);
      await front.stop();
      await services.stop();
      await model.stop();
    },
  };
}

/** A signed-in page at `path`. What the page reports as an error fails the test through `errors`. */
export async function openPage(context: BrowserContext, url: string, path = "/", errors: string[] = []): Promise<Page> {
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy/i.test(message.text())) errors.push(message.text());
  });
  await page.goto(url + path);
  const frame = page.locator(".frame");
  const name = page.locator("input[name=username]");
  await frame.or(name).first().waitFor();
  if (await name.isVisible()) {
    await name.fill("admin");
    await page.locator("input[name=password]").fill(PASSWORD);
    await page.locator("button[type=submit]").click();
    await frame.waitFor();
  }
  return page;
}

/** Types a question and sends it with Enter. */
export async function ask(page: Page, text: string): Promise<void> {
  await page.locator(".composer textarea").fill(text);
  await page.locator(".composer textarea").press("Enter");
}

/** The text of the last answer as the reader sees it. */
export async function lastAnswer(page: Page): Promise<string> {
  return (await page.locator(".turn .markdown").allInnerTexts()).at(-1) ?? "";
}

/** Fails on a serious accessibility fault of what is shown now. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await seriousFaults(page)).toEqual([]);
}
