// Seeded fuzzing from the upstream's side: answers, mostly good, some broken at one place, cut anywhere, to both engines.
// A client gets what the upstream meant, or 502, or a connection that ends short; both engines agree, and whoever asks
// next gets its own answer. A failure prints its seed; FUZZ_SEED repeats it, FUZZ_ROUNDS changes how many.

import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSeededRandom, type SeededRandom } from "../../chaos/plan/seeded-random.ts";
import { type Message, onRequests, readAnswers } from "../../support/proxy/messages.ts";
import { type EngineName, type Rig, startRig } from "../../support/proxy/rig.ts";

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 300);
const SEED = Number(process.env.FUZZ_SEED ?? 41_000);
const BREAKS = ["\n", "\r", "\0", " ", ":", "", "\x80", "0", "\r\n"];

interface Answer {
  readonly bytes: string;
  readonly cuts: readonly number[];
  readonly broken: boolean;
  /** The upstream ends the connection behind it. */
  readonly ends: boolean;
}

function randomAnswer(random: SeededRandom): Answer {
  const pick = <T>(list: readonly T[]): T => list[random.whole(0, list.length - 1)] as T;
  const body = "abcdefghij".repeat(pick([0, 1, 7, 400, 9_000]));
  const extra = Array.from({ length: random.whole(0, 4) }, (_, n) => `X-${n}: v${random.whole(0, 99)}\r\n`).join("");
  const early = pick(["", "", "", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"]);
  const head = `${early}HTTP/1.1 ${pick(["200 OK", "404 Not Found", "500 No", "201 "])}\r\n${extra}`;
  const framing = pick(["length", "chunked", "end"]);
  let bytes = `${head}\r\n${body}`;
  if (framing === "length") bytes = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  if (framing === "chunked") {
    let chunks = "";
    for (let at = 0; at < body.length; ) {
      const size = random.whole(1, Math.min(4_000, body.length - at));
      chunks += `${size.toString(16)}${pick(["", "", ";e=1"])}\r\n${body.slice(at, at + size)}\r\n`;
      at += size;
    }
    bytes = `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n${pick(["", "X-Sum: 1\r\n"])}\r\n`;
  }
  const broken = random.whole(1, 10) <= 4;
  if (broken) {
    const at = random.whole(0, Math.min(bytes.length, head.length + 60) - 1);
    bytes = bytes.slice(0, at) + pick(BREAKS) + bytes.slice(at + random.whole(0, 1));
  }
  const cuts = Array.from({ length: random.whole(0, 5) }, () => random.whole(0, bytes.length)).sort((a, b) => a - b);
  return { bytes, cuts, broken, ends: framing === "end" || broken || random.whole(0, 3) === 0 };
}

const rigs = {} as Record<EngineName, Rig>;
let present: Answer = { bytes: "", cuts: [], broken: false, ends: false };

async function give(socket: Socket, { bytes, cuts, ends }: Answer): Promise<void> {
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    if (to > from) socket.write(Buffer.from(bytes.slice(from, to), "latin1"));
    from = to;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  if (ends) socket.end();
}

beforeAll(async () => {
  for (const engine of ["product", "reference"] as const) {
    rigs[engine] = await startRig({}, engine);
    await rigs[engine].addUpstream("a", (socket) =>
      onRequests(socket, (request) => {
        if (request.first.includes("/fuzz")) void give(socket, present);
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine");
      }),
    );
    await rigs[engine].route(["a"]);
  }
});
afterAll(async () => {
  await rigs.product.stop();
  await rigs.reference.stop();
});

/** The client's whole answer, or null when its connection ended short of one. */
async function ask(engine: EngineName): Promise<Message | null> {
  const client = rigs[engine].client().send("GET /fuzz HTTP/1.1\r\nHost: x\r\n\r\n");
  await client.until((came) => readAnswers(came, ["GET"]).length === 1).catch(() => {});
  client.socket.destroy();
  return readAnswers(client.received, ["GET"], false)[0] ?? null;
}

/** What does not depend on the engine's way of framing. */
function essence(answer: Message | null): unknown {
  if (answer === null) return "short";
  const own = new Set(["x-request-id", "connection", "transfer-encoding", "content-length"]);
  const { first, headers, body, trailers } = answer;
  if (first.includes(" 502 ")) return "502";
  return { first, headers: headers.filter(([name]) => !own.has(name)), body, trailers };
}

/** Does more follow behind the first whole answer? */
function isOverlong(bytes: string): boolean {
  const [answer] = readAnswers(bytes, ["GET"]);
  return answer !== undefined && !bytes.endsWith(answer.raw);
}

test(`both engines make the same of ${ROUNDS} seeded answers`, async () => {
  let whole = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const seed = SEED + round;
    present = randomAnswer(createSeededRandom(seed));
    const [product, reference] = [essence(await ask("product")), essence(await ask("reference"))];
    const what = `seed ${seed}: ${JSON.stringify(present.bytes.slice(0, 300))}`;
    if (!present.broken) expect(product, what).not.toBeTypeOf("string");
    if (typeof product !== "string") whole++;
    // Where an answer breaks off, one may have said 502 and the other have begun already: both tell the client. Bytes
    // behind a whole answer are dropped by one and cut its answer short with the other.
    if (reference === "short" && isOverlong(present.bytes)) expect(product, what).not.toBe("502");
    else if (typeof product === "string" || typeof reference === "string")
      expect(typeof product, what).toBe(typeof reference);
    else expect(product, what).toEqual(reference);
    for (const engine of ["product", "reference"] as const) {
      const next = rigs[engine].client().send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
      await next.until((came) => readAnswers(came, ["GET"]).length === 1);
      expect(readAnswers(next.received, ["GET"])[0]?.body, what).toBe("mine");
      next.socket.destroy();
    }
  }
  expect(whole).toBeGreaterThan(ROUNDS / 2);
});
