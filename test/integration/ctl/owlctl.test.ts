// owlctl as a person and a script meet it: output, exit codes, languages, over a small control API of its own.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aRollout, aStatus, type FakeOwld, json, problem, startFakeOwld, stream } from "../../support/fake-owld.ts";
import { ctl, startCtl } from "../../support/owlctl.ts";

let owld: FakeOwld;
beforeEach(async () => {
  owld = await startFakeOwld();
  owld.on("GET /v1/status", aStatus());
});
afterEach(() => owld.close());

describe("status", () => {
  test("--json is one document, the daemon's own", async () => {
    const ended = await ctl(owld.home, ["status", "--json"]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(ended.stdout)).toEqual(aStatus());
  });

  test("for people, in a pipe: plain lines without colours", async () => {
    const { stdout, code } = await ctl(owld.home, ["status"]);
    expect(code).toBe(0);
    expect(stdout).not.toContain("\u001b");
    for (const part of [
      "steady",
      "web 1/2",
      "web-7",
      "backoff",
      "SIGKILL (likely out of memory)",
      "358 steady, 502 in a rollout",
      "psql 1",
      "worker-2",
      "The disk is nearly full.",
    ]) {
      expect(stdout).toContain(part);
    }
  });

  test("of a service without workers it misses none", async () => {
    const { stdout } = await ctl(owld.home, ["status", "web"]);
    expect(stdout).toContain("web-7");
    expect(stdout).not.toMatch(/worker|registered/);
  });

  test("in Korean by OWL_LANG", async () => {
    const { stdout } = await ctl(owld.home, ["status"], { OWL_LANG: "ko" });
    expect(stdout).toContain("안정");
    expect(stdout).toContain("메모리 부족으로 보임");
  });

  test("--watch in a pipe prints again what changed, and Ctrl-C is its ordinary end", async () => {
    const running = startCtl(owld.home, ["status", "--watch", "--json"]);
    await running.seen(/"state":"steady"/);
    owld.on("GET /v1/status", aStatus({ state: "degraded" }));
    await running.seen(/"state":"degraded"/);
    running.child.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 0 });
  });
});

describe("a daemon that cannot be asked", () => {
  test("is exit code 3, one sentence and the next step", async () => {
    await owld.goAway();
    const { code, stderr, stdout } = await ctl(owld.home, ["status"]);
    expect(code).toBe(3);
    expect(stdout).toBe("");
    expect(stderr).toContain(owld.socket);
    expect(stderr.trim().split("\n")).toHaveLength(2);
  });

  test("--socket goes before OWL_CONTROL_SOCKET before OWL_HOME", async () => {
    const nowhere = { OWL_CONTROL_SOCKET: "/tmp/owl-nowhere.sock" };
    const flagged = ["status", "--json", "--socket", owld.socket];
    expect((await ctl(owld.home, flagged, { ...nowhere, OWL_HOME: "/tmp/none" })).code).toBe(0);
    expect((await ctl(owld.home, ["status"], nowhere)).stderr).toContain("/tmp/owl-nowhere.sock");
    expect(
      (await ctl(owld.home, ["status", "--json"], { OWL_HOME: "/tmp/none", OWL_CONTROL_SOCKET: owld.socket })).code,
    ).toBe(0);
  });

  test("--help never asks it", async () => {
    for (const args of [["--help"], ["restart", "--help"], ["help", "rollout"], ["rollout", "cancel", "--help"]]) {
      const { code, stdout } = await ctl(owld.home, args);
      expect([code, stdout.includes("Usage: owlctl")]).toEqual([0, true]);
    }
    expect(owld.calls).toEqual([]);
  });
});

describe("wrong use is exit code 2 with a suggestion", () => {
  test.each([
    [["statsu"], /Did you mean status\?/],
    [["status", "--jsno"], /Did you mean --json\?/],
    [["restart", "--timeout", "10"], /10m/],
    [["restart", "--wait", "never"], /serving, drained/],
    [["scale", "web=many"], /web=3/],
    [["logs", "--grep", "("], /regular expression/],
    [["logs", "-n", "x"], /whole number/],
    [["completion", "tcsh"], /bash, zsh or fish/],
    [["why"], /target/],
    [["exec", "web", "--"], /Usage: owlctl exec \[options\] <target> <command\.\.\.>\nExamples: owlctl exec --help/],
    [["backup", "shwo"], /Examples: owlctl backup --help/],
    [["frobnicate"], /Examples: owlctl --help/],
  ])("owlctl %j", async (args, pattern) => {
    const { code, stderr } = await ctl(owld.home, args);
    expect(code).toBe(2);
    expect(stderr).toMatch(pattern);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test("a name the daemon does not know", async () => {
    owld.on("GET /v1/why/wbe", (_, response) =>
      problem(response, {
        status: 404,
        code: "service.unknown",
        detail: 'There is no service "wbe".',
        next: "Did you mean web?",
        data: { name: "wbe", nearest: "web" },
      }),
    );
    expect(await ctl(owld.home, ["why", "wbe"])).toMatchObject({
      code: 2,
      stderr: 'There is no service "wbe".\nDid you mean web?\n',
    });
  });
});

test("owld is asked in the language that owlctl speaks", async () => {
  const asked: unknown[] = [];
  owld.on("GET /v1/preflight", (request, response) => {
    asked.push(request.headers["accept-language"]);
    json(response, 200, []);
  });
  await ctl(owld.home, ["preflight"]);
  await ctl(owld.home, ["preflight"], { OWL_LANG: "ko" });
  expect(asked).toEqual(["en", "ko"]);
});

describe("plans", () => {
  const plan = {
    changes: true,
    steps: [{ service: "web", action: "start", instance: "web-9" }],
    expectedMs: 4_000,
    worstMs: 330_000,
    peakConnections: 502,
    connectionLimit: 597,
    peakMemoryBytes: 2 ** 30,
    notes: ["surge narrowed to 1"],
  };

  test("exit with 10 when there are changes, 0 when there are none, and change nothing", async () => {
    owld.on("POST /v1/rollouts/plan", plan);
    const there = await ctl(owld.home, ["restart", "web", "--plan"]);
    expect(there.code).toBe(10);
    for (const part of ["web-9", "5m 30s", "502 of 597", "surge narrowed"]) expect(there.stdout).toContain(part);
    owld.on("POST /v1/rollouts/plan", { ...plan, changes: false, steps: [] });
    expect(await ctl(owld.home, ["restart", "--plan"])).toMatchObject({ code: 0 });
    expect(owld.calls.map((one) => one.call)).toEqual(["POST /v1/rollouts/plan", "POST /v1/rollouts/plan"]);
    expect(owld.calls[0]?.body).toEqual({ kind: "restart", services: ["web"], all: false });
  });

  test("of scale and reload too", async () => {
    owld.on("POST /v1/scale/plan", plan);
    owld.on("POST /v1/reload/plan", plan);
    expect((await ctl(owld.home, ["scale", "web=3", "worker=2", "--plan"])).code).toBe(10);
    expect((await ctl(owld.home, ["reload", "--plan", "--json"])).code).toBe(10);
    expect(owld.calls[0]?.body).toEqual({ web: 3, worker: 2 });
  });
});

describe("changes", () => {
  test("say what was decided", async () => {
    owld.on("POST /v1/scale", { changed: true, notes: ["web: 2 -> 3"], rollout: null });
    expect(await ctl(owld.home, ["scale", "web=3"])).toMatchObject({ code: 0, stdout: "web: 2 -> 3\n" });
  });

  test("a reload that adds a service waits until it stands, and fails when it does not", async () => {
    owld.on("POST /v1/reload", {
      changed: true,
      notes: ["web is new"],
      rollout: null,
      added: { names: ["web"], standMs: 300 },
    });
    owld.on("GET /v1/status", aStatus());
    const failed = await ctl(owld.home, ["reload"]);
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringMatching(/web is new and ended[\s\S]*owlctl why web/),
    ]);
    const [web] = aStatus().services;
    owld.on("GET /v1/status", aStatus({ services: web ? [{ ...web, ready: 2, instances: [] }] : [] }));
    expect(await ctl(owld.home, ["reload"])).toMatchObject({ code: 0, stdout: "web is new\n" });
  });

  test("refused while a rollout runs: exit code 4 with its id", async () => {
    owld.on("POST /v1/stop/web", (_, response) =>
      problem(response, {
        status: 409,
        code: "rollout.busy",
        detail: "Rollout r-12 is running.",
        next: "Watch it: owlctl rollout watch r-12",
        data: { rollout: "r-12" },
      }),
    );
    const { code, stderr } = await ctl(owld.home, ["stop", "web"]);
    expect(code).toBe(4);
    expect(stderr).toContain("r-12");
  });

  test("reload of an invalid file: exit code 78 with every problem", async () => {
    owld.on("POST /v1/reload", (_, response) =>
      problem(response, {
        status: 422,
        code: "config.invalid",
        detail: "owl.yaml:6:5: unknown key services.web.replica; did you mean replicas?",
      }),
    );
    const { code, stderr } = await ctl(owld.home, ["reload"]);
    expect(code).toBe(78);
    expect(stderr).toContain("owl.yaml:6:5");
  });

  test("kill by a script asks nothing and tells the cost", async () => {
    owld.on("POST /v1/kill/web-7", { instance: "web-7", notes: ["3 requests in flight were cut."] });
    const { code, stdout } = await ctl(owld.home, ["kill", "web-7"]);
    expect(code).toBe(0);
    expect(stdout).toContain("3 requests in flight were cut.");
  });
});

describe("preflight", () => {
  const line = (verdict: string) => ({
    check: "disk",
    verdict,
    found: "2 GiB free",
    why: "an update needs room",
    command: "df -h",
  });

  test("a FAIL is exit code 1, a WARN is not", async () => {
    owld.on("GET /v1/preflight", [line("OK"), line("WARN")]);
    expect(await ctl(owld.home, ["preflight"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 OK, 1 WARN, 0 FAIL"),
    });
    owld.on("GET /v1/preflight", [line("FAIL")]);
    const { code, stdout } = await ctl(owld.home, ["preflight"]);
    expect(code).toBe(1);
    expect(stdout).toContain("$ df -h");
  });
});

describe("logs and events", () => {
  test("logs are passed on with their instance", async () => {
    owld.on("GET /v1/logs", stream([{ instance: "web-7", line: "hello", at: null }]));
    expect(await ctl(owld.home, ["logs", "web", "-n", "5", "--since", "10m", "--grep", "h.llo"])).toMatchObject({
      code: 0,
      stdout: "web-7 | hello\n",
    });
    const url = new URL(owld.calls[0]?.call.slice(4) ?? "", "http://x");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      target: "web",
      sinceMs: "600000",
    });
  });

  test("a search runs in owlctl: the newest past lines that match, then new ones; owld never sees the expression", async () => {
    const line = (text: string) => ({ instance: "web-7", line: text, at: null });
    const mark = { instance: "", line: "", at: null, isMark: true };
    owld.on(
      "GET /v1/logs",
      stream([line("a 1"), line("b 2"), line("a 3"), line("a 4"), mark, line("b 5"), line("a 6")], true),
    );
    const running = startCtl(owld.home, ["logs", "-f", "-n", "2", "--grep", "^a"]);
    await running.seen(/a 6/);
    running.child.kill("SIGINT");
    const { stdout } = await running.ended;
    expect(stdout).toBe("web-7 | a 3\nweb-7 | a 4\nweb-7 | a 6\n");
    expect(owld.calls[0]?.call).toMatch(/[?&]mark=1/);
    expect(owld.calls[0]?.call).not.toContain("grep");
  });

  test("one request is followed through the logs of all processes", async () => {
    const line = (instance: string, text: string) => ({ instance, line: text, at: null });
    owld.on(
      "GET /v1/logs",
      stream([
        line("proxy-1", '{"access":"proxy-1","requestId":"r-1"}'),
        line("web-7", '{"requestId":"r-2","msg":"request answered"}'),
        line("web-7", '{"requestId":"r-1","msg":"request answered"}'),
        line("worker-2", '{"job":"j","requestId":"r-1","msg":"job began"}'),
        line("worker-2", '{"job":"j","requestId":"r-1","msg":"job is over"}'),
      ]),
    );
    const { stdout } = await ctl(owld.home, ["logs", "--request", "r-1"]);
    expect(stdout.split("\n").map((text) => text.split(" ")[0])).toEqual([
      "proxy-1",
      "web-7",
      "worker-2",
      "worker-2",
      "",
    ]);
    const searched = await ctl(owld.home, ["logs", "--request", "r-1", "--grep", "job is"]);
    expect(searched.stdout).toBe('worker-2 | {"job":"j","requestId":"r-1","msg":"job is over"}\n');
  });

  test("following events survives the daemon's absence and asks only for what is new", async () => {
    const event = (id: number) => ({
      id,
      at: "2026-01-01T00:00:00.000Z",
      type: "instance.ready",
      service: "web",
      instance: "web-7",
      rollout: null,
      message: `event ${id}`,
    });
    owld.on("GET /v1/events", stream([event(1), event(2)], true));
    const running = startCtl(owld.home, ["events", "-f"]);
    await running.seen(/event 2/);
    await owld.goAway();
    owld.on("GET /v1/events", (request, response) =>
      stream(request.url?.includes("after=2") ? [event(3)] : [event(1)], true)(request, response, null),
    );
    await owld.comeBack();
    await running.seen(/event 3/);
    running.child.kill("SIGINT");
    const { stdout, code } = await running.ended;
    expect(stdout.match(/event \d/g)).toEqual(["event 1", "event 2", "event 3"]);
    expect(code).toBe(0);
  });
});

describe("the bundled application from a terminal", () => {
  test("accounts: the one-time password is printed once, a password never comes by argv", async () => {
    owld.on("POST /v1/app/users", (_, response, body) =>
      json(response, 201, { ...(body as object), password: "one-time" }),
    );
    const { stdout } = await ctl(owld.home, ["user", "add", "mina", "--admin"]);
    expect(stdout).toContain("one-time");
    expect(owld.calls[0]?.body).toEqual({ name: "mina", role: "admin" });
  });

  test("a batch is watched to its end", async () => {
    const counts = { queued: 1, running: 1, done: 2, failed: 0, cancelled: 0 };
    let polls = 0;
    owld.on("GET /v1/app/batches/b1", (_, response) => {
      polls += 1;
      const done = polls > 1;
      json(response, 200, {
        id: "b1",
        state: done ? "done" : "running",
        counts,
        progress: done ? 1 : 0.5,
        throughput: 1,
        etaSeconds: done ? null : 4,
      });
    });
    expect(await ctl(owld.home, ["batch", "watch", "b1"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("100%"),
    });
  });
});

describe("without a daemon", () => {
  test("completion scripts hold every command", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { stdout, code } = await ctl(owld.home, ["completion", shell]);
      expect(code).toBe(0);
      for (const name of ["status", "rollout", "daemon-reexec", "preflight"]) expect(stdout).toContain(name);
    }
    expect(owld.calls).toEqual([]);
  });

  test("version says both, and that the daemon is away", async () => {
    expect((await ctl(owld.home, ["version", "--json"])).stdout).toContain('"owld":"1.0.0"');
    await owld.goAway();
    expect(await ctl(owld.home, ["version"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("not running"),
    });
  });
});

test("rollout list --json is an array", async () => {
  owld.on("GET /v1/rollouts", [aRollout()]);
  expect(JSON.parse((await ctl(owld.home, ["rollout", "list", "--json"])).stdout)).toHaveLength(1);
});
