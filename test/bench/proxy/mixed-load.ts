// `node mixed-load.ts PORT`: for each number its parent sends, that many requests of every kind a proxy may forget to
// clean up after: GET, POST with a length and in chunks, large answers, clients that leave in the request and in the answer.

import { connect, type Socket } from "node:net";
import { readMessage } from "../../support/proxy/messages.ts";

const CONNECTIONS = 32;
const port = Number(process.argv[2]);

const GET = "GET /who HTTP/1.1\r\nHost: bench\r\nCookie: a=b\r\n\r\n";
const POST = `POST / HTTP/1.1\r\nHost: bench\r\nContent-Length: 500\r\n\r\n${"p".repeat(500)}`;
const CHUNKED =
  "POST / HTTP/1.1\r\nHost: bench\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\n...\r\n0\r\nA: b\r\n\r\n";
const LARGE = "GET /large HTTP/1.1\r\nHost: bench\r\n\r\n";
const KINDS = [GET, POST, GET, CHUNKED, GET, POST, GET, CHUNKED, GET, POST];
/** One in so many leaves instead of reading; one in so many takes a large answer. */
const ABORT_EVERY = 25;
const LARGE_EVERY = 200;

let left = 0;
let failed = 0;

/** Sends on one connection after the other until nothing is left. */
async function one(number: number): Promise<void> {
  let socket: Socket | null = null;
  for (let n = number; left > 0; n++) {
    left--;
    socket ??= await open();
    if (n % ABORT_EVERY === 0) {
      await leave(socket, n / ABORT_EVERY);
      socket = null;
    } else {
      const request = n % LARGE_EVERY === 1 ? LARGE : (KINDS[n % KINDS.length] ?? GET);
      if (!(await ask(socket, request))) {
        failed++;
        socket.destroy();
        socket = null;
      }
    }
  }
  socket?.destroy();
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("connect", () => resolve(socket));
    socket.on("error", reject);
  });
}

/** Leaves in the head, in the body, before the answer, or as its first bytes come. */
function leave(socket: Socket, n: number): Promise<void> {
  return new Promise((resolve) => {
    socket.removeAllListeners("error").on("error", () => {});
    socket.once("close", () => resolve());
    const go = () => (n % 2 === 0 ? socket.destroy() : socket.resetAndDestroy());
    switch (n % 4) {
      case 0:
        socket.write(GET.slice(0, 30), go);
        break;
      case 1:
        socket.write(POST.slice(0, 300), go);
        break;
      case 2:
        socket.write(POST, go);
        break;
      default:
        socket.once("data", go);
        socket.write(LARGE);
    }
  });
}

function ask(socket: Socket, request: string): Promise<boolean> {
  return new Promise((resolve) => {
    let text = "";
    let missing = 0;
    const settle = (well: boolean) => {
      socket.off("data", take).off("close", lost);
      resolve(well);
    };
    const lost = () => settle(false);
    const take = (chunk: Buffer) => {
      if (missing > 0) {
        missing -= chunk.length;
        if (missing === 0) settle(true);
        return;
      }
      text += chunk.toString("latin1");
      if (request === LARGE) {
        const headEnd = text.indexOf("\r\n\r\n");
        if (headEnd < 0) return;
        missing = headEnd + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1]) - text.length;
        if (missing === 0) settle(true);
        return;
      }
      const read = readMessage(text, { answer: true });
      if (read !== null) settle(read.message.first.startsWith("HTTP/1.1 200"));
    };
    socket.on("data", take).once("close", lost);
    socket.write(request);
  });
}

process.on("message", async (requests: number) => {
  left = requests;
  failed = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, number) => one(number)));
  process.send?.({ failed });
});
process.on("disconnect", () => process.exit(0));
