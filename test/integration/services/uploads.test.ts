// Uploads and transcriptions over the real web and a real worker.

import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { engineScript, wavBytes } from "../../support/recordings.ts";
import { type Program, type Services, startServices, until, type WebClient } from "../../support/services.ts";

let services: Services;
let program: Program & { readonly client: WebClient };
let web: WebClient;
let cookie: string;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp("/tmp/owl-uploads-");
  const engine = await engineScript(dir, 0.01);
  services = await startServices({
    uploadBytes: 8 * 2 ** 20,
    transcription: { engine: "command", command: engine.command },
  });
  await restartWeb();
});
afterAll(async () => {
  await services.stop();
  await rm(dir, { recursive: true, force: true });
});

async function restartWeb(): Promise<void> {
  program = await services.web();
  web = program.client;
  const signedIn = await web.signIn();
  cookie = String(signedIn.headers["set-cookie"]).split(";")[0] ?? "";
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Cut the connection after so many bytes. */
  readonly cutAfter?: number;
}

function send(sent: Sent): Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: "owl.test",
      cookie,
      ...(sent.body ? { "content-length": String(sent.body.length) } : {}),
      ...sent.headers,
    };
    const asked = request(
      { socketPath: program.socket, method: sent.method, path: sent.path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      },
    );
    asked.on("error", reject);
    if (sent.cutAfter === undefined) asked.end(sent.body);
    else asked.write(sent.body?.subarray(0, sent.cutAfter) ?? "", () => asked.destroy(new Error("cut")));
  });
}

const json = (body: Buffer) => JSON.parse(body.toString());
const offsetOf = async (id: string) => {
  const head = await send({ method: "HEAD", path: `/api/uploads/${id}` });
  expect(head.status).toBe(200);
  return Number(head.headers["upload-offset"]);
};

test("an upload cut at five offsets, with a web killed once, resumes by its offset and is whole", async () => {
  const file = wavBytes(150, 16_000);
  const begun = await web.call("POST", "/api/uploads", { name: "../../etc/meeting 회의.wav", bytes: file.length });
  expect(begun.status).toBe(201);
  expect(begun.body).toMatchObject({ name: "meeting 회의.wav", offset: 0, complete: false });
  const id = begun.body.uploadId;
  for (const [round, share] of [0.1, 0.25, 0.5, 0.7, 0.9].entries()) {
    const offset = await offsetOf(id);
    const upTo = Math.round(file.length * share);
    await send({
      method: "PATCH",
      path: `/api/uploads/${id}`,
      headers: { "upload-offset": String(offset), "content-type": "application/offset+octet-stream" },
      body: file.subarray(offset),
      cutAfter: upTo - offset,
    }).catch(() => undefined);
    if (round === 2) {
      program.child.kill("SIGKILL");
      await program.exited;
      await restartWeb();
    } else await until("the cut is noted", async () => (await offsetOf(id)) > offset);
  }
  const offset = await offsetOf(id);
  const wrong = await send({
    method: "PATCH",
    path: `/api/uploads/${id}`,
    headers: { "upload-offset": String(offset + 1) },
    body: file.subarray(offset + 1),
  });
  expect([wrong.status, json(wrong.body).data.offset]).toEqual([409, offset]);
  const last = await send({
    method: "PATCH",
    path: `/api/uploads/${id}`,
    headers: { "upload-offset": String(offset) },
    body: file.subarray(offset),
  });
  expect(last.status).toBe(200);
  const sha256 = createHash("sha256").update(file).digest("hex");
  expect(json(last.body)).toMatchObject({ complete: true, sha256, bytes: file.length });
});

test("a recording sent in one request is transcribed, followed by its segments, heard by ranges, taken as subtitles", async () => {
  const file = wavBytes(100, 16_000, true);
  const sent = await send({
    method: "POST",
    path: "/api/uploads?name=talk.wav",
    headers: { "content-type": "audio/wav" },
    body: file,
  });
  expect(sent.status).toBe(201);
  const { uploadId, mediaType } = json(sent.body);
  expect(mediaType).toMatch(/^audio\//);
  const asked = await web.call("POST", "/api/transcriptions", { uploadId }, { "idempotency-key": "t1" });
  expect(asked.status).toBe(202);
  const again = await web.call("POST", "/api/transcriptions", { uploadId }, { "idempotency-key": "t1" });
  expect(again.body).toEqual(asked.body);
  expect((await web.call("DELETE", `/api/uploads/${uploadId}`)).status).toBe(409);
  const worker = await services.worker();
  const { transcriptionId: id } = asked.body;
  const events = await web.events(`/api/transcriptions/${id}/events`);
  expect(events.at(-1)?.event).toBe("end");
  const segments = events.filter((event) => event.event === "segment").map((event) => event.data.n);
  const done = (await web.call("GET", `/api/transcriptions/${id}`)).body;
  expect(done).toMatchObject({ state: "done", progress: 1, secondsTotal: 100, name: "talk.wav" });
  expect(segments).toEqual(done.segments.map((one: { n: number }) => one.n));
  expect(done.segments.length).toBeGreaterThan(2);
  expect(done.segments.at(-1).endMs).toBe(100_000);
  const resumed = await web.events(`/api/transcriptions/${id}/events`, { lastId: events.at(-1)?.id });
  expect(resumed).toEqual([]);

  const part = await send({
    method: "GET",
    path: `/api/transcriptions/${id}/media`,
    headers: { range: "bytes=100-199" },
  });
  expect(part.status).toBe(206);
  expect(part.headers["content-range"]).toBe(`bytes 100-199/${file.length}`);
  expect(part.body.equals(file.subarray(100, 200))).toBe(true);
  expect((await send({ method: "GET", path: `/api/transcriptions/${id}/media` })).body.equals(file)).toBe(true);
  const beyond = await send({
    method: "GET",
    path: `/api/transcriptions/${id}/media`,
    headers: { range: `bytes=${file.length}-` },
  });
  expect(beyond.status).toBe(416);
  const vtt = await send({ method: "GET", path: `/api/transcriptions/${id}/text?format=vtt` });
  expect(vtt.body.toString()).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:/);
  worker.child.kill("SIGTERM");
  await worker.exited;
  // Of two that name one upload, the second takes the file along.
  const second = (await web.call("POST", "/api/transcriptions", { uploadId })).body.id;
  expect((await web.call("DELETE", `/api/transcriptions/${second}`)).body.code).toBe("transcription.conflict");
  expect((await web.call("DELETE", `/api/transcriptions/${id}`)).status).toBe(204);
  expect((await web.call("GET", `/api/transcriptions/${id}`)).status).toBe(404);
  expect((await web.call("POST", `/api/transcriptions/${second}/stop`)).status).toBe(202);
  expect(await readdir(services.config.uploadsDir)).toContain(uploadId);
  expect((await web.call("DELETE", `/api/transcriptions/${second}`)).status).toBe(204);
  expect(await readdir(services.config.uploadsDir)).not.toContain(uploadId);
  expect((await web.call("DELETE", `/api/transcriptions/${second}`)).status).toBe(404);
  expect((await web.call("GET", `/api/uploads/${uploadId}`)).status).toBe(404);
});

test("a completed upload nobody uses is deleted with its file", async () => {
  const headers = { "content-type": "audio/wav" };
  const { uploadId } = json((await send({ method: "POST", path: "/api/uploads", headers, body: wavBytes(1) })).body);
  expect((await web.call("DELETE", `/api/uploads/${uploadId}`)).status).toBe(204);
  expect((await web.call("GET", `/api/uploads/${uploadId}`)).status).toBe(404);
});

test("a form's file is taken as well", async () => {
  const file = wavBytes(1);
  const edge = "edge-1234";
  const body = Buffer.concat([
    Buffer.from(
      `--${edge}\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n`,
    ),
    file,
    Buffer.from(`\r\n--${edge}--\r\n`),
  ]);
  const headers = { "content-type": `multipart/form-data; boundary=${edge}` };
  const sent = await send({ method: "POST", path: "/api/uploads", headers, body });
  expect([sent.status, json(sent.body).name, json(sent.body).bytes]).toEqual([201, "a.wav", file.length]);
});

test("too large is refused before the first byte, another type after the last; neither leaves a file", async () => {
  const before = (await readdir(services.config.uploadsDir)).sort();
  const big = await web.call("POST", "/api/uploads", { name: "big.wav", bytes: 9 * 2 ** 20 });
  expect([big.status, big.body.code]).toEqual([413, "upload.tooLarge"]);
  const announced = await send({
    method: "POST",
    path: "/api/uploads?name=big.wav",
    headers: { "content-type": "audio/wav", "content-length": String(9 * 2 ** 20), expect: "100-continue" },
  }).catch(() => null);
  if (announced) expect(announced.status).toBe(413);
  const script = Buffer.from("#!/bin/sh\necho no recording\n".repeat(50));
  const text = await send({
    method: "POST",
    path: "/api/uploads?name=x.wav",
    headers: { "content-type": "audio/wav" },
    body: script,
  });
  expect([text.status, json(text.body).code]).toEqual([415, "upload.type"]);
  expect((await web.call("POST", "/api/uploads", { name: "x.wav" })).status).toBe(400);
  expect((await readdir(services.config.uploadsDir)).sort()).toEqual(before);
});

test("uploads and transcriptions of another account are not found", async () => {
  const sent = await send({
    method: "POST",
    path: "/api/uploads",
    headers: { "content-type": "audio/wav" },
    body: wavBytes(1),
  });
  const { uploadId } = json(sent.body);
  const asked = await web.call("POST", "/api/transcriptions", { uploadId });
  await web.call("POST", "/api/admin/users", { name: "other", role: "member", password: "another long password" });
  const mine = cookie;
  const other = await web.signIn("other", "another long password");
  expect(other.status).toBe(200);
  cookie = String(other.headers["set-cookie"]).split(";")[0] ?? "";
  for (const path of [
    `/api/uploads/${uploadId}`,
    `/api/transcriptions/${asked.body.id}`,
    `/api/transcriptions/${asked.body.id}/media`,
  ]) {
    expect([path, (await send({ method: "GET", path })).status]).toEqual([path, 404]);
  }
  expect((await send({ method: "DELETE", path: `/api/transcriptions/${asked.body.id}` })).status).toBe(404);
  expect((await web.call("POST", "/api/transcriptions", { uploadId })).status).toBe(404);
  cookie = mine;
});

test("the folder for cutting is empty afterwards", async () => {
  expect(await readdir(join(services.config.uploadsDir, ".cut")).catch(() => [])).toEqual([]);
});
