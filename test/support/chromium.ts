// Debian's Chromium for tests. Missing Chromium fails the test that wants it: it is never skipped.

import { access, mkdtemp, rm } from "node:fs/promises";
import { type BrowserContext, chromium } from "playwright-core";

export const CHROMIUM = process.env.OWL_TEST_CHROMIUM ?? "/usr/bin/chromium";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
];

export interface TestBrowser {
  readonly context: BrowserContext;
  stop(): Promise<void>;
}

export interface TestBrowserOptions {
  readonly language?: "ko-KR" | "en-US";
  readonly dark?: boolean;
  readonly phone?: boolean;
}

/** A browser of its own with an empty profile. */
export async function startBrowser(options: TestBrowserOptions = {}): Promise<TestBrowser> {
  await access(CHROMIUM).catch(() => {
    throw new Error(`There is no Chromium at ${CHROMIUM}. Install it: apt-get install chromium`);
  });
  const profile = await mkdtemp("/tmp/owl-chromium-");
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    args: FLAGS,
    locale: options.language ?? "en-US",
    colorScheme: options.dark ? "dark" : "light",
    viewport: options.phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
    ...(options.phone ? { isMobile: true, hasTouch: true, deviceScaleFactor: 2 } : {}),
    acceptDownloads: true,
  });
  context.setDefaultTimeout(60_000);
  return {
    context,
    async stop() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
