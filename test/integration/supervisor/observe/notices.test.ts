// Notifications on their way: a real mail server and a real webhook; the clock is moved, the record outlives owld.

import { createServer, type IncomingMessage } from "node:http";
import { SMTPServer } from "smtp-server";
import { afterEach, expect, test } from "vitest";
import type { Config } from "../../../../config/config.ts";
import type { NotifyConfig } from "../../../../config/notify-config.ts";
import { en, type Sentence } from "../../../../supervisor/core/text/text.ts";
import { createNotices } from "../../../../supervisor/observe/notices/watch.ts";
import { listenOnLoopback } from "../../../chaos/outside/listen-on-loopback.ts";
import { createPaperDisk, openMemoryStore } from "../../../support/memory-store.ts";
import { poll } from "../../../support/poll.ts";
import { createTestClock } from "../../../support/test-clock.ts";

const LOOK_MS = 15_000;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += chunk.toString();
  return text;
}

async function setup() {
  const mails: string[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    onData(stream, _session, done) {
      readAll(stream as AsyncIterable<Buffer>).then((text) => {
        mails.push(text);
        done();
      }, done);
    },
  });
  const smtpPort = await listenOnLoopback(smtp.server);
  cleanups.push(() => new Promise<void>((resolve) => smtp.close(() => resolve())));

  const posts: { readonly id: string; readonly text: string; readonly matters: readonly { state: string }[] }[] = [];
  const hook = { answer: 200, asked: 0 };
  const web = createServer((request: IncomingMessage, response) => {
    readAll(request as AsyncIterable<Buffer>).then(
      (text) => {
        hook.asked += 1;
        if (hook.answer === 0) return;
        if (hook.answer === 200) posts.push(JSON.parse(text));
        response.writeHead(hook.answer).end();
      },
      () => undefined,
    );
  });
  const webPort = await listenOnLoopback(web);
  cleanups.push(() => {
    web.closeAllConnections();
    return new Promise((resolve) => web.close(resolve));
  });

  const notify: NotifyConfig = {
    mail: { to: ["ops@example.org"], smtp: `smtp://127.0.0.1:${smtpPort}`, from: "owl@example.org" },
    webhook: { url: `http://127.0.0.1:${webPort}/hook/hunter2` },
    quiet: null,
    events: ["backup", "drill"],
  };
  const clock = createTestClock();
  // The clock runs far ahead of the network: no message comes too late until that is asked for.
  const due = new Set<() => void>();
  let isPatient = true;
  const patient = {
    ...clock,
    after(ms: number, run: () => void) {
      const cancel = clock.after(ms, () => (isPatient ? due.add(run) : run()));
      return () => {
        cancel();
        due.delete(run);
      };
    },
  };
  function losePatience(): void {
    isPatient = false;
    for (const run of due) run();
    due.clear();
  }
  const disk = createPaperDisk();
  const matters = new Map<string, Sentence>();
  const errors: unknown[] = [];

  /** An owld on the same record. */
  function startOwld() {
    const warnings = new Map(matters);
    const notices = createNotices({
      ground: {
        clock: patient,
        store: openMemoryStore(disk, () => undefined),
        journal: { read: () => [] },
        book: { all: () => [] },
        warnings,
        record: en,
        warned: () => (error: unknown) => void errors.push(error),
      } as never,
      config: () =>
        ({
          home: "/",
          services: [],
          proxy: { tls: null },
          usesDatabase: false,
          backup: null,
          notify,
        }) as never as Config,
      rollouts: { recent: () => [] },
      backups: { status: () => null },
    });
    notices.start();
    cleanups.push(async () => {
      losePatience();
      let hasStopped = false;
      const stopped = notices.stop().finally(() => {
        hasStopped = true;
      });
      await until(() => hasStopped);
      await stopped;
    });
    return { notices, warnings };
  }
  const until = async (holds: () => boolean): Promise<void> => {
    await poll(async () => {
      if (holds()) return true;
      await clock.advance(LOOK_MS);
      return false;
    });
  };
  return { mails, posts, hook, losePatience, clock, matters, errors, startOwld, until };
}

test("a matter reaches both channels once, also over a restart of owld, and then that it is over", async () => {
  const { mails, posts, clock, matters, errors, startOwld, until } = await setup();
  matters.set("backup base", () => "The backup directory is full.");
  const first = startOwld();
  await until(() => mails.length === 1 && posts.length === 1);
  expect(mails[0]).toMatch(/^Subject: \[Owl .*\] The backup directory is full\.$/m);
  expect(mails[0]).toMatch(/^Auto-Submitted: auto-generated$/m);
  await first.notices.stop();

  const second = startOwld();
  for (let look = 0; look < 10; look++) await clock.advance(LOOK_MS);
  second.warnings.clear();
  await until(() => mails.length === 2 && posts.length === 2);
  expect(mails[1]).toContain("Is over");
  expect(posts.map((one) => one.matters.map(({ state }) => state))).toEqual([["open"], ["over"]]);
  expect(errors).toEqual([]);
});

test("a webhook that fails holds back no mail, is said without its address, and is told when it answers again", async () => {
  const { mails, posts, hook, matters, startOwld, until } = await setup();
  hook.answer = 500;
  matters.set("drill", () => "The last restore drill failed.");
  const { warnings } = startOwld();
  await until(() => mails.length === 1 && warnings.has("notify webhook"));
  const said = [...warnings.values()].map((say) => say(en)).join(" ");
  expect(said).toContain("HTTP 500");
  expect(said).not.toContain("hunter2");
  hook.answer = 200;
  await until(() => posts.length === 1 && !warnings.has("notify webhook"));
  expect(mails).toHaveLength(1);
});

test("a webhook that never answers ends with its time, and keeps owld from nothing", async () => {
  const { mails, hook, losePatience, matters, startOwld, until } = await setup();
  hook.answer = 0;
  matters.set("drill", () => "The last restore drill failed.");
  const { warnings } = startOwld();
  await until(() => hook.asked > 0 && mails.length > 0);
  losePatience();
  await until(() => warnings.has("notify webhook"));
  expect([...warnings.values()].map((say) => say(en)).join(" ")).toContain("ETIMEDOUT");
});

test("a test is sent by every channel, and refused with each one's reason", async () => {
  const { mails, posts, hook, startOwld } = await setup();
  const { notices } = startOwld();
  expect(await notices.test()).toEqual(["mail", "webhook"]);
  expect([mails.length, posts.length]).toEqual([1, 1]);
  hook.answer = 404;
  await expect(notices.test()).rejects.toMatchObject({
    code: "notify.failed",
    message: "The webhook did not take it: HTTP 404.",
  });
});
