// Seeded fuzzing: the same bytes, cut the same way, to both engines; what upstreams and clients see must agree.
// A failure prints its seed; FUZZ_SEED repeats it, FUZZ_ROUNDS changes how many.

import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../config/system-time.ts";
import { type Message, onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { type Client, type EngineName, type Rig, startRig } from "../../support/proxy/rig.ts";

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 250);
const QUIET_TURNS = 60;
const SEED = Number(process.env.FUZZ_SEED ?? 20_261);

/** A small seeded generator (mulberry32). */
function generator(seed: number) {
  let state = seed >>> 0;
  const float = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(float() * count);
  return {
    below,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    chance: (p: number) => float() < p,
  };
}
type Rng = ReturnType<typeof generator>;

const NAMES = [
  "Accept",
  "X-A",
  "x-b",
  "Cookie",
  "User-Agent",
  "Accept-Language",
  "X-Forwarded-For",
  "TE",
  "Keep-Alive",
  "X-Very-Long-Name-Of-A-Header",
];

function randomBody(rng: Rng): string {
  return "abcdefghij".repeat(rng.pick([0, 1, 3, 200, 3_000])).slice(rng.below(5));
}

function chunkedBody(rng: Rng, body: string): string {
  let out = "";
  let at = 0;
  while (at < body.length) {
    const size = 1 + rng.below(Math.min(2_000, body.length - at));
    out += `${size.toString(16)}${rng.chance(0.1) ? ";e=1" : ""}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return `${out}0\r\n${rng.chance(0.3) ? "X-Sum: 1\r\n" : ""}\r\n`;
}

interface Fuzzed {
  readonly method: string;
  readonly bytes: string;
  readonly mutated: boolean;
}

/** One request, mostly good; `plan` is what its upstream will do, told by the target. */
function randomRequest(rng: Rng, number: number): Fuzzed {
  const method = rng.pick(["GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);
  const plan = rng.pick(["length", "chunked", "empty", "204", "304", "large", "early"]);
  let head = `${method} /${plan}/${number}?q=%20+%2F HTTP/1.1\r\nHost: team.example\r\n`;
  for (let count = rng.below(5); count > 0; count--)
    head += `${rng.pick(NAMES)}:${rng.pick([" ", "", "\t"])}v${rng.below(99)}\r\n`;
  if (rng.chance(0.1)) head += "Connection: x-a, keep-alive\r\n";
  const mutate = rng.chance(0.06);
  const body =
    method === "POST" || method === "PUT" || (method === "DELETE" && rng.chance(0.5)) ? randomBody(rng) : null;
  let bytes: string;
  if (body === null) bytes = `${head}\r\n`;
  else if (rng.chance(0.5)) bytes = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  else bytes = `${head}Transfer-Encoding: chunked\r\n\r\n${chunkedBody(rng, body)}`;
  if (mutate) {
    const at = rng.below(Math.min(bytes.length, head.length + 40));
    bytes = bytes.slice(0, at) + rng.pick(["\n", "\r", "\0", " ", ":", "", "\x80"]) + bytes.slice(at + rng.below(2));
  }
  return { method, bytes, mutated: mutate };
}

const upstreamScript = (seen: Message[]) => (socket: Socket) =>
  onRequests(socket, (request) => {
    seen.push(request);
    const plan = /^\S+ \/(\w+)\//.exec(request.first)?.[1] ?? "length";
    const noBody = request.first.startsWith("HEAD ");
    const text = `${request.first}|${request.body.length}`;
    if (plan === "chunked") {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-P: 1\r\n\r\n`);
      if (!noBody) socket.write(`${text.length.toString(16)}\r\n${text}\r\n3;x\r\nend\r\n0\r\nX-T: 1\r\n\r\n`);
    } else if (plan === "empty") socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    else if (plan === "204") socket.write("HTTP/1.1 204 No Content\r\n\r\n");
    else if (plan === "304") socket.write("HTTP/1.1 304 Not Modified\r\nETag: a\r\n\r\n");
    else if (plan === "large") {
      const body = "L".repeat(100_000);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${noBody ? "" : body}`);
    } else {
      if (plan === "early") socket.write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
      socket.write(
        `HTTP/1.1 200 OK\r\nConnection: X-P\r\nX-P: 1\r\nContent-Length: ${text.length}\r\n\r\n${noBody ? "" : text}`,
      );
    }
  });

/** What does not depend on the engine: order and content, without ids, framing and Connection. */
function essence(messages: readonly Message[]): unknown[] {
  const own = new Set([
    "x-request-id",
    "connection",
    "transfer-encoding",
    "forwarded",
    "x-forwarded-host",
    "x-forwarded-for",
    "x-forwarded-proto",
  ]);
  return messages.map(({ first, headers, body, trailers }) => ({
    first,
    headers: headers.filter(([name]) => !own.has(name)).sort(),
    body: /^HTTP\/1\.1 4/.test(first) ? "" : body,
    trailers,
  }));
}

function inOrder(requests: readonly Message[], count: number): Message[] {
  const numberOf = ({ first }: Message) => Number(/\/(\d+)\?/.exec(first)?.[1] ?? 0);
  return requests.filter((request) => numberOf(request) < count).sort((a, b) => numberOf(a) - numberOf(b));
}

const rigs = {} as Record<EngineName, Rig>;
const seen: Record<EngineName, Message[]> = { product: [], reference: [] };

beforeAll(async () => {
  for (const engine of ["product", "reference"] as const) {
    rigs[engine] = await startRig({}, engine);
    await rigs[engine].addUpstream("a", upstreamScript(seen[engine]));
    await rigs[engine].route(["a"]);
  }
});
afterAll(async () => {
  await rigs.product.stop();
  await rigs.reference.stop();
});

/** Resolves when nothing came for so many turns of this process's loop, in which client, proxy and upstream all run. */
async function untilQuiet(client: Client, requests: readonly Message[]): Promise<void> {
  let before = -1;
  for (let turns = 0; turns < QUIET_TURNS && !client.ended; turns++) {
    const now = client.received.length + requests.length;
    if (now !== before) turns = 0;
    before = now;
    await systemClock.sleep(5);
  }
}

async function play(engine: EngineName, requests: readonly Fuzzed[], cuts: readonly number[]) {
  seen[engine].length = 0;
  const client = rigs[engine].client();
  const text = requests.map(({ bytes }) => bytes).join("");
  const methods = requests.map(({ method }) => method);
  let from = 0;
  for (const to of [...cuts, text.length]) {
    client.send(text.slice(from, to));
    from = to;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  const answered = client.until((came) => readAnswers(came, methods).length === methods.length).catch(() => {});
  // A broken request may leave the proxy waiting for more bytes, which never come.
  const isBroken = requests.some(({ mutated }) => mutated);
  await (isBroken ? Promise.race([answered, untilQuiet(client, seen[engine])]) : answered);
  client.socket.destroy();
  return { answers: readAnswers(client.received, methods, true), requests: [...seen[engine]] };
}

test(`both engines agree on ${ROUNDS} seeded conversations`, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const seed = SEED + round;
    const rng = generator(seed);
    const requests = Array.from({ length: 1 + rng.below(4) }, (_, number) => randomRequest(rng, number));
    const length = requests.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const cuts = Array.from({ length: rng.below(6) }, () => rng.below(length)).sort((a, b) => a - b);
    const [product, reference] = [await play("product", requests, cuts), await play("reference", requests, cuts)];
    const isRefusal = ({ first }: Message) => / 4\d\d | 501 /.test(first);
    const refusedAt = product.answers.findIndex(isRefusal);
    const cutAt = reference.answers.findIndex(isRefusal);
    const what = `seed ${seed}: ${JSON.stringify(requests.map(({ bytes }) => bytes.slice(0, 300)))}`;
    // What went upstream whole is the same; behind a refusal node:http may still serve, or cut, what came before.
    const firstOf = (...indexes: number[]) => Math.min(...indexes.filter((index) => index >= 0));
    const clean = requests.every(({ mutated }) => !mutated);
    const upTo = clean ? requests.length : firstOf(refusedAt, cutAt, reference.answers.length, product.answers.length);
    expect(essence(product.answers.slice(0, upTo)), what).toEqual(essence(reference.answers.slice(0, upTo)));
    // node:http hands pipelined requests on side by side: their order upstream is not its promise.
    expect(essence(inOrder(product.requests, upTo)), what).toEqual(essence(inOrder(reference.requests, upTo)));
    if (clean) expect(refusedAt, what).toBe(-1);
    if (refusedAt >= 0) {
      expect(product.answers, what).toHaveLength(refusedAt + 1);
      expect(
        reference.answers.some(({ first }) => / 4\d\d | 501 /.test(first)) || reference.answers.length <= refusedAt,
        what,
      ).toBe(true);
    }
  }
});
