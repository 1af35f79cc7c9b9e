// Accepted connections that read into our buffer: depends on an option Node does not document, so its moving shows here.

import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { withOwnReads } from "../../../supervisor/proxy/engine-net/own-reads.ts";
import { eventually } from "../../support/proxy/rig.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function accepted(take: (socket: Socket) => void): Promise<{ client: Socket; server: Server }> {
  const server = createServer(take);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { client: connect(port, "127.0.0.1"), server };
}

test("what a client sends lies in the buffer given, pausing holds it back, and its end is told", async () => {
  const buffer = Buffer.alloc(1_024);
  const buffers = new Set<Uint8Array>();
  let socket: Socket | null = null;
  let came = "";
  let ended = false;
  const { client, server } = await accepted((plain) => {
    socket = withOwnReads(plain, {
      buffer: () => buffer,
      callback: (length, bytes) => {
        buffers.add(bytes);
        came += Buffer.from(bytes).toString("latin1", 0, length);
        return true;
      },
    });
    socket?.on("end", () => {
      ended = true;
    });
    expect(plain.destroyed).toBe(true);
  });
  client.write("first ");
  await eventually("the first bytes came", () => came === "first ");
  expect([...buffers]).toEqual([buffer]);
  const own = socket as Socket | null;
  expect(own?.remoteAddress).toBe("127.0.0.1");
  own?.pause();
  client.write("x".repeat(10_000));
  let echoed = "";
  client.on("data", (bytes) => {
    echoed += bytes.toString();
  });
  own?.write("answer");
  await eventually("the answer came", () => echoed === "answer");
  expect(came).toBe("first ");
  own?.resume();
  await eventually("all came", () => came.length === 10_006);
  client.end();
  await eventually("the end came", () => ended);
  // The server counts the connection as closed already: nobody may wait for its `close` to mean that clients are gone.
  expect(await new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0);
});

test("a socket that is closed already stays as it is", async () => {
  let moved: Socket | null | undefined;
  const { client } = await accepted((plain) => {
    plain.destroy();
    moved = withOwnReads(plain, { buffer: Buffer.alloc(1), callback: () => true });
  });
  client.on("error", () => {});
  await eventually("it was accepted", () => moved !== undefined);
  expect(moved).toBeNull();
});
