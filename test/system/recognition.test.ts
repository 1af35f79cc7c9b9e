// Real speech (espeak-ng) through real ffmpeg and a real recogniser (pocketsphinx), by a real worker.
// Needs Debian's ffmpeg, espeak-ng, pocketsphinx and pocketsphinx-en-us (.ci/run installs them).

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../config/system-time.ts";
import { openRecording } from "../../services/jobs/transcription/recording.ts";
import { type Services, startServices, until, type WebClient } from "../support/services.ts";

const run = promisify(execFile);
const SENTENCE = "The people of the city wanted to know what the president said about the war and the money.";
let services: Services;
let web: WebClient;
let dir: string;
let archive: string;

async function speak(name: string, text: string): Promise<string> {
  const wav = join(dir, `${name}.wav`);
  await run("espeak-ng", ["-v", "en-us", "-s", "150", "-w", wav, text]);
  return wav;
}

beforeAll(async () => {
  dir = await mkdtemp("/tmp/owl-speech-");
  archive = join(dir, "archive");
  await mkdir(archive);
  const short = await speak("short", SENTENCE);
  const long = await speak("long", Array.from({ length: 12 }, () => SENTENCE).join(" ... ... "));
  await run("ffmpeg", ["-v", "error", "-i", short, join(archive, "short.flac")]);
  await run("ffmpeg", ["-v", "error", "-i", long, "-c:a", "aac", join(archive, "long.m4a")]);
  const picture = "color=c=black:s=64x64:r=5:d=5";
  await run("ffmpeg", [
    "-v",
    "error",
    "-f",
    "lavfi",
    "-i",
    picture,
    "-i",
    short,
    "-shortest",
    join(archive, "film.mp4"),
  ]);
  await run("ffmpeg", ["-v", "error", "-f", "lavfi", "-i", picture, "-an", join(archive, "silent-film.mp4")]);
  services = await startServices({ archiveRoots: [archive] });
  web = (await services.web()).client;
  await web.signIn();
});
afterAll(async () => {
  await services.stop();
  await rm(dir, { recursive: true, force: true });
});

const ended = (id: string) =>
  until(
    `transcription ${id} ended`,
    async () => {
      const now = (await web.call("GET", `/api/transcriptions/${id}`)).body;
      return now.endedAt !== null && now;
    },
    240_000,
  );

test("speech in audio and in video is recognised, a long one in parts cut where nobody speaks", async () => {
  await services.worker();
  const ask = async (name: string) =>
    (await web.call("POST", "/api/transcriptions", { path: join(archive, name) })).body.id;
  const [short, film, long, silent] = await Promise.all(
    ["short.flac", "film.mp4", "long.m4a", "silent-film.mp4"].map(ask),
  );
  const heard = await ended(short);
  expect(heard).toMatchObject({ state: "done", message: null });
  expect(words(heard.text)).toBeGreaterThanOrEqual(4);
  expect((await ended(film)).text.length).toBeGreaterThan(0);
  const parts = await ended(long);
  expect(parts.state).toBe("done");
  expect(parts.segments.length).toBeGreaterThanOrEqual(2);
  expect(words(parts.text)).toBeGreaterThanOrEqual(6);
  expect(await ended(silent)).toMatchObject({ state: "failed", message: "This file holds no sound." });
});

test("cuts lie in pauses of the speech", async () => {
  const file = join(archive, "long.m4a");
  const { signal } = new AbortController();
  const recording = await openRecording(file, systemClock, signal);
  const plan = await recording.plan(signal);
  const aims = plan.slice(0, -1).map((span) => span.endMs - span.startMs);
  expect(aims.some((ms) => ms !== 30_000)).toBe(true);
  expect(await recording.plan(signal)).toEqual(plan);
});

/** How many words of the sentence, each once, were heard. */
function words(text: string): number {
  const heard = new Set(text.toLowerCase().split(/\W+/));
  return new Set(
    SENTENCE.toLowerCase()
      .match(/\w{3,}/g)
      ?.filter((word) => heard.has(word)),
  ).size;
}
