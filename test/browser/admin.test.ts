import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestBrowser } from "../support/chromium.ts";
import { expectAccessible, openPage, type PagesBed, startPages } from "../support/pages.ts";
import { PASSWORD, until } from "../support/services.ts";

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

const ROLLOUT = {
  id: "r-7",
  kind: "update",
  state: "running",
  startedAt: "2026-01-01T00:00:00.000Z",
  endedAt: null,
  reason: null,
  steps: [
    { n: 1, service: "owl", action: "stage", instance: null, state: "done", startedAt: null, elapsedMs: 5 },
    { n: 2, service: "owl", action: "confirm", instance: null, state: "failed", startedAt: null, elapsedMs: 5 },
  ],
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

  test("going back says first what would be lost, and is approved once", async () => {
    await bed.services.sql.query("UPDATE owl.approval SET state = 'succeeded', ended_at = now()");
    const lost = { count: 1_234, firstAt: "2026-01-02T11:00:00.000Z", lastAt: "2026-01-03T11:00:00.000Z" };
    await bed.services.sql.query(
      "INSERT INTO owl.rollback_offer (version, place, plan) VALUES ('0.9.0', 1, $1), ('0.8.0', 2, $2)",
      [
        { verdict: "planned", restores: true, closedMs: 52_000, lost, newerJobs: 0 },
        { verdict: "refused", reason: "0.8.0 cannot live with the database of now.", next: "Update instead." },
      ],
    );
    const page = await open("/admin/updates");
    await page.getByText("0.8.0 cannot live with the database of now. Update instead.").waitFor();
    await page.getByRole("button", { name: "Look and go back…" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog
      .getByText(/^1,234 entries written since that copy are lost, from Jan 2, 2026.* to Jan 3, 2026/)
      .waitFor();
    await dialog.getByText("Pages say “back in a moment” for 52 s at most.").waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Approve going back" }).dblclick();
    await page.locator(".approvals strong", { hasText: "Back to 0.9.0" }).waitFor();
    const { rows } = await bed.services.sql.query(
      "SELECT version, state, account_name FROM owl.approval WHERE kind = 'rollback'",
    );
    expect(rows).toEqual([{ version: "0.9.0", state: "waiting", account_name: "admin" }]);
    await bed.services.sql.query("UPDATE owl.approval SET state = 'succeeded', ended_at = now()");
    await page.close();
  });

  test("a rollout that has ended meanwhile is not cancelled, and the page says why", async () => {
    const running = { ...STATUS, state: "rolling", rollout: ROLLOUT };
    await bed.services.sql.query("UPDATE owl.system_status SET status = $1", [running]);
    const page = await open("/admin/rollouts");
    await page.getByRole("button", { name: "Cancel…" }).click();
    // It ends while the dialog asks.
    const ended = {
      ...ROLLOUT,
      kind: "update",
      state: "failed",
      reason: "confirm: it was slow.",
      endedAt: "2026-01-01T00:01:30.000Z",
    };
    await bed.services.sql.query("INSERT INTO owl.rollout_report (id, started_at, rollout) VALUES ($1, $2, $3)", [
      ended.id,
      ended.startedAt,
      ended,
    ]);
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the rollout" }).click();
    await page.getByText("r-7 had ended already, so there was nothing to cancel.").waitFor();
    await bed.services.sql.query("UPDATE owl.system_status SET status = $1", [STATUS]);
    await page.locator("[data-rollout=r-7]").getByText("confirm: it was slow.").waitFor();
    await page.getByRole("button", { name: "Cancel…" }).waitFor({ state: "detached" });
    expect((await bed.services.sql.query("SELECT 1 FROM owl.rollout_cancel")).rows).toEqual([]);
    await page.locator("[data-rollout=r-7] summary").click();
    await page.getByText("Confirm that it works").waitFor();
    await expectAccessible(page);
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

  test("on a phone a token is made and told once, and a second factor begun with its QR code", async () => {
    const phone = await bed.browser({ phone: true, dark: true, language: "ko-KR" });
    const page = await openPage(phone.context, bed.front.url, "/", errors);
    await page.getByRole("button", { name: "메뉴", exact: true }).click();
    await page.locator(".account summary").click();
    await page.locator(".account").getByRole("button", { name: "내 계정" }).click();
    const dialog = page.getByRole("dialog");
    const tokens = dialog.getByRole("region", { name: "API 토큰" });
    await tokens.getByRole("button", { name: "새 토큰" }).click();
    await tokens.getByLabel("용도").fill("야간 보고서");
    await tokens.getByLabel("대화와 답변 읽기").check();
    await tokens.getByLabel("현재 비밀번호").fill(PASSWORD);
    await expectAccessible(page);
    await tokens.getByRole("button", { name: "만들기" }).click();
    expect(await tokens.locator(".secret code").innerText()).toMatch(/^owl_[\w-]{43}$/);
    await tokens.getByText("사용한 적 없음").waitFor();
    const factor = dialog.getByRole("region", { name: "2단계 인증" });
    await factor.getByRole("button", { name: "켜기" }).click();
    await factor.getByLabel("현재 비밀번호").fill(PASSWORD);
    await factor.getByRole("button", { name: "켜기" }).click();
    await factor.getByRole("button", { name: "QR 코드 보기" }).click();
    await until("it is drawn", () =>
      factor.locator(".qr").evaluate((image) => (image as HTMLImageElement).naturalWidth > 0),
    );
    expect(await dialog.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
    await expectAccessible(page);
    await tokens.getByRole("button", { name: "폐기", exact: true }).click();
    await page.locator("dialog:not(:has(.secret)) button.danger", { hasText: "폐기" }).click();
    await tokens.getByText("토큰이 없습니다.").waitFor();
    await phone.stop();
  });

  test("no page reported an error or a breach of its policy", () => {
    expect(errors).toEqual([]);
  });
});
