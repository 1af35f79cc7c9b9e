import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestBrowser } from "../support/chromium.ts";
import { expectAccessible, openPage, type PagesBed, startPages } from "../support/pages.ts";
import { until } from "../support/services.ts";

let bed: PagesBed;
let browser: TestBrowser;
const errors: string[] = [];

const instance = (id: string, state: string) => ({
  id,
  pid: 1,
  state,
  release: "1.0.0",
  startedAt: "2026-01-01T00:00:00.000Z",
  restarts: 0,
  inFlight: 0,
  rssBytes: 1_000_000,
  cpu: 0.1,
  lastExit: null,
});

/** What owld would have written. */
const STATUS = {
  version: "1.0.0",
  pid: 1,
  startedAt: "2026-01-01T00:00:00.000Z",
  state: "steady",
  release: { version: "1.0.0", path: "/x" },
  proxy: { listen: ["127.0.0.1:8080"], processes: [], inFlight: 0, requests: 12, retries: 0, failures: 0 },
  services: [
    {
      name: "web",
      replicas: 2,
      ready: 2,
      wanted: "up",
      crashLooping: false,
      instances: [instance("web-1", "ready"), instance("web-2", "ready")],
    },
  ],
  connections: { limit: 597, maxConnections: 600, steady: 358, surge: 502, open: 41, peak: 55, verdict: "ok" },
  workers: [],
  rollout: null,
  warnings: [],
};

beforeAll(async () => {
  bed = await startPages();
  browser = await bed.browser();
  await bed.services.sql.query("INSERT INTO owl.system_status (id, status) VALUES (1, $1)", [STATUS]);
  await bed.services.sql.query("INSERT INTO owl.release_offer (version, manifest, plan) VALUES ('1.1.0', $1, $2)", [
    { notes: { en: ["Chat moves to new processes."], ko: ["대화가 새 프로세스로 옮겨집니다."] } },
    {
      verdict: "planned",
      workers: "drainFirst",
      schema: "none",
      pending: [],
      worstWithoutWorkersMs: 330_000,
      worstDowntimeMs: 0,
      way: { back: "code" },
    },
  ]);
});

afterAll(() => bed?.stop());

const open = (path: string): Promise<Page> => openPage(browser.context, bed.front.url, path, errors);

describe("administration", () => {
  test("one page shows services, connections against the limit, workers, queues and turn lengths", async () => {
    await bed.client.ask("say 1 words every 0 ms").then(({ turnId }) => bed.client.ended(turnId));
    const page = await open("/admin");
    await page.getByText("Steady", { exact: true }).waitFor();
    await page.getByText("2 of 2 ready").waitFor();
    await page.getByRole("img", { name: "Open 41, peak 55, declared sum 358, in a surge 502, limit 597" }).waitFor();
    await page.getByRole("img", { name: /^Turns by length: ≤\d+s: 1/ }).waitFor();
    await page.getByText(/heartbeat .* ago/).waitFor();
    await page.getByText("Chat turns").waitFor();
    await expectAccessible(page);
    await page.close();
  });

  test("Restart writes an approval and nothing more; the page shows how it goes on", async () => {
    const page = await open("/admin");
    await page.getByRole("button", { name: "Restart" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
    await page.getByText("waiting for the supervisor").waitFor();
    const { rows } = await bed.services.sql.query("SELECT id, kind, state, services FROM owl.approval");
    expect(rows).toMatchObject([{ kind: "restart", state: "waiting", services: null }]);
    // What owld does next.
    const step = {
      n: 1,
      service: "web",
      action: "drain",
      instance: "web-1",
      state: "running",
      startedAt: new Date().toISOString(),
      elapsedMs: 5,
    };
    const rollout = {
      id: "r-1",
      kind: "restart",
      state: "running",
      startedAt: new Date().toISOString(),
      endedAt: null,
      reason: null,
      steps: [step],
    };
    await bed.services.sql.query("UPDATE owl.approval SET state = 'running', rollout = 'r-1', progress = $1", [
      rollout,
    ]);
    await page.getByText("Drain web-1").waitFor();
    await bed.services.sql.query("UPDATE owl.approval SET state = 'succeeded', ended_at = now()");
    await until("the button is back", () => page.getByRole("button", { name: "Restart" }).isEnabled());
    await page.close();
  });

  test("an update's impact is shown before it can be approved, and is approved once", async () => {
    const page = await open("/admin/updates");
    await page.getByRole("button", { name: "Look and approve…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Chat moves to new processes.").waitFor();
    await dialog.getByText("New questions wait in line for 5 min 30 s at most.").waitFor();
    await dialog.getByText("The way back is the old code alone: nothing is lost.").waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Approve the update" }).dblclick();
    await page.locator(".approvals strong", { hasText: "Update to 1.1.0" }).waitFor();
    const { rows } = await bed.services.sql.query(
      "SELECT version, account_name FROM owl.approval WHERE kind = 'update'",
    );
    expect(rows).toEqual([{ version: "1.1.0", account_name: "admin" }]);
    await page.close();
  });

  test("an account is added with a one-time password, signs in, must not see the administration, and is disabled", async () => {
    const page = await open("/admin/users");
    await page.getByRole("button", { name: "Add an account" }).click();
    await page.getByLabel("Name").fill("jiwoo");
    await page.getByRole("dialog").getByRole("button", { name: "Add an account" }).click();
    const password = await page.locator(".secret code").innerText();
    await page.keyboard.press("Escape");
    await expectAccessible(page);

    const other = await bed.browser();
    const theirs = await other.context.newPage();
    await theirs.goto(bed.front.url);
    await theirs.locator("input[name=username]").fill("jiwoo");
    await theirs.locator("input[name=password]").fill(password);
    await theirs.keyboard.press("Enter");
    await theirs.getByText("Choose a password of your own").waitFor();
    await theirs.getByLabel("Present password").fill(password);
    await theirs.getByLabel("New password (10 characters or more)").fill("a much better one");
    await theirs.getByLabel("New password again").fill("a much better one");
    await expectAccessible(theirs);
    await theirs.getByRole("button", { name: "Change password" }).click();
    await theirs.getByText("What would you like to know?").waitFor();
    expect(await theirs.getByRole("link", { name: "Administration" }).count()).toBe(0);
    await theirs.goto(`${bed.front.url}/admin`);
    await theirs.getByText("There is no such page").waitFor();

    const row = page.locator("tr", { hasText: "jiwoo" });
    await row.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
    await row.getByText("disabled").waitFor();
    await theirs.goto(bed.front.url);
    await theirs.getByRole("heading", { name: "Sign in" }).waitFor();
    await other.stop();
    await page.close();
  });

  test("the trail names who did what, and logs that are not ours to read are said to be so", async () => {
    const page = await open("/admin/audit");
    await page.getByText("update.approved").waitFor();
    await expectAccessible(page);
    await page.goto(`${bed.front.url}/admin/logs`);
    await page.getByText("owlctl logs -f").waitFor();
    await expectAccessible(page);
    await page.close();
  });

  test("no page reported an error or a breach of its policy", () => {
    expect(errors).toEqual([]);
  });
});
