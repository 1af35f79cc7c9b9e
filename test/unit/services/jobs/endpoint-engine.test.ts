import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../../config/system-time.ts";
import type { Clock } from "../../../../config/time.ts";
import { createEndpointEngine, retryAfterMs } from "../../../../services/jobs/transcription/endpoint-engine.ts";
import { chooseEngine } from "../../../../services/jobs/transcription/engine.ts";

let server: Server;
let baseUrl: string;
let dir: string;
let file: string;
let asked: { path: string; key: string; body: string }[];
let answer: (request: IncomingMessage, response: ServerResponse, n: number) => void;
const waits: number[] = [];
/** Waits are noted, not waited out. */
const clock: Clock = {
  ...systemClock,
  async sleep(ms, signal) {
    waits.push(ms);
    signal?.throwIfAborted();
  },
};

beforeAll(async () => {
  dir = await mkdtemp("/tmp/owl-engine-");
  file = join(dir, "a.wav");
  await writeFile(file, "RIFF sound");
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    asked.push({ path: request.url ?? "", key: request.headers.authorization ?? "", body });
    answer(request, response, asked.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
  waits.length = 0;
});

const idle = new AbortController().signal;
const transcribe = (signal = idle, hurry = idle) =>
  createEndpointEngine({ baseUrl, apiKey: "secret-key", model: "m" }, clock).transcribe({
    file,
    language: "ko",
    durationMs: 1_000,
    signal,
    hurry,
  });
const send = (response: ServerResponse, status: number, text: string, headers = {}) =>
  response.writeHead(status, headers).end(text);

describe("an endpoint for speech", () => {
  test("gets the file, the model and the language, and its text is taken", async () => {
    answer = (_request, response) => send(response, 200, '{"text": " hello\\n there "}');
    expect(await transcribe()).toBe("hello there");
    expect(asked[0]).toMatchObject({ path: "/v1/audio/transcriptions", key: "Bearer secret-key" });
    expect(asked[0]?.body).toContain("RIFF sound");
    expect(asked[0]?.body).toMatch(/name="language"\r\n\r\nko/);
  });

  test("that is busy is asked again after what it says; one that fails a while is asked again", async () => {
    answer = (_request, response, n) =>
      n === 1
        ? send(response, 429, "", { "retry-after": "7" })
        : n === 2
          ? send(response, 500, "")
          : send(response, 200, '{"text":"x"}');
    expect(await transcribe()).toBe("x");
    expect(waits).toEqual([7_000, 2_000]);
  });

  test.each([
    ["401", (response: ServerResponse) => send(response, 401, ""), "engine.refused", 1],
    ["400", (response: ServerResponse) => send(response, 400, "no such model"), "engine.failed", 1],
    ["500 for ever", (response: ServerResponse) => send(response, 500, ""), "engine.away", 5],
    [
      "429 for an hour",
      (response: ServerResponse) => send(response, 429, "", { "retry-after": "3600" }),
      "engine.away",
      1,
    ],
    ["garbage", (response: ServerResponse) => send(response, 200, "<html>"), "engine.failed", 1],
    ["another JSON", (response: ServerResponse) => send(response, 200, '{"words": []}'), "engine.failed", 1],
    [
      "half an answer",
      (response: ServerResponse) => {
        response.writeHead(200, { "content-length": "100" }).write('{"te');
        setImmediate(() => response.destroy());
      },
      "engine.away",
      5,
    ],
  ] as const)("that answers %s ends in a clear error", async (_what, say, code, times) => {
    answer = (_request, response) => say(response);
    const error = await transcribe().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code });
    expect(JSON.stringify([String(error), error])).not.toContain("secret-key");
    expect(asked).toHaveLength(times);
  });

  test("is let go at once by an abort, and waited for no longer when the worker drains", async () => {
    const controller = new AbortController();
    answer = () => controller.abort(new Error("stopped"));
    await expect(transcribe(controller.signal)).rejects.toThrow("stopped");
    const hurry = new AbortController();
    answer = (_request, response) => {
      hurry.abort(new Error("draining"));
      send(response, 503, "");
    };
    await expect(transcribe(idle, hurry.signal)).rejects.toThrow("draining");
  });

  test("says when to come back in seconds or as a date", () => {
    expect(retryAfterMs("5", 0)).toBe(5_000);
    expect(retryAfterMs("Thu, 01 Jan 1970 00:00:10 GMT", 4_000)).toBe(6_000);
    expect(retryAfterMs("soon", 0)).toBeNull();
    expect(retryAfterMs(null, 0)).toBeNull();
  });
});

describe("choosing an engine", () => {
  const none = { engine: "auto", command: null, baseUrl: null, apiKey: null, model: null, onStop: "handBack" } as const;

  test("without any says which command installs one", () => {
    expect(() => chooseEngine(none, clock, dir)).toThrow(
      expect.objectContaining({ code: "engine.missing", next: expect.stringContaining("apt-get install") }),
    );
  });

  test("takes an installed recogniser before an endpoint, and the configured command before both", async () => {
    await writeFile(join(dir, "pocketsphinx_continuous"), "#!/bin/sh\necho heard $2\n", { mode: 0o755 });
    const auto = chooseEngine({ ...none, baseUrl }, clock, dir);
    expect(auto.name).toBe("pocketsphinx_continuous");
    const request = { file, language: null, durationMs: 1_000, signal: idle, hurry: idle };
    expect(await auto.transcribe(request)).toBe(`heard ${file}`);
    const own = chooseEngine(
      { ...none, engine: "command", command: ["/bin/sh", "-c", "echo no >&2; exit 4", "{file}"] },
      clock,
    );
    await expect(own.transcribe(request)).rejects.toMatchObject({
      code: "engine.failed",
      message: expect.stringContaining("no"),
    });
    const missing = chooseEngine({ ...none, engine: "command", command: ["whisper-cli", "{file}"] }, clock, dir);
    await expect(missing.transcribe(request)).rejects.toMatchObject({ code: "engine.missing" });
  });
});
