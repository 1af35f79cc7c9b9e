import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import {
  boundAddress,
  matchListeners,
  parseProcAddress,
  takeListenFds,
} from "../../../../supervisor/systemd/listen-fds.ts";

const eighty = { host: "0.0.0.0", port: 80 };

describe("taking systemd's descriptors", () => {
  test("names them from 3 up and leaves nothing of it in the environment", () => {
    const env = { LISTEN_PID: "7", LISTEN_FDS: "2", LISTEN_FDNAMES: "owl:admin", PATH: "/bin" };
    expect(takeListenFds(env, 7, (fd) => (fd === 3 ? eighty : null))).toEqual([
      { fd: 3, name: "owl", address: eighty },
      { fd: 4, name: "admin", address: null },
    ]);
    expect(env).toEqual({ PATH: "/bin" });
  });

  test.each([
    ["meant for another process", { LISTEN_PID: "8", LISTEN_FDS: "1" }],
    ["not a number", { LISTEN_PID: "7", LISTEN_FDS: "many" }],
    ["not there", {}],
  ])("takes none when they are %s, and removes the variables all the same", (_, env) => {
    expect(takeListenFds(env, 7, () => eighty)).toEqual([]);
    expect(env).toEqual({});
  });
});

describe("matching them to the configuration", () => {
  const inherited = [
    { fd: 3, name: "owl", address: eighty },
    { fd: 4, name: "owl", address: { host: "127.0.0.1", port: 8080 } },
  ];

  test("goes by address, whatever the order in the socket unit", () => {
    const match = matchListeners([{ host: "localhost", port: 8080 }, eighty], inherited);
    expect(match).toEqual({ descriptors: [4, 3], missing: [], extra: [] });
  });

  test("says which address systemd does not open and which socket nobody asked for", () => {
    const match = matchListeners([{ host: "127.0.0.1", port: 443 }], inherited);
    expect(match.missing).toEqual([{ host: "127.0.0.1", port: 443 }]);
    expect(match.extra).toHaveLength(2);
  });

  test("a socket on any address serves a host of its port, once", () => {
    const wanted = [
      { host: "10.0.0.1", port: 80 },
      { host: "10.0.0.2", port: 80 },
    ];
    expect(matchListeners(wanted, inherited).descriptors).toEqual([3, null]);
  });
});

describe("an address in /proc", () => {
  test("is read for both families", () => {
    expect(parseProcAddress("0100007F:1F90")).toEqual({ host: "127.0.0.1", port: 8080 });
    expect(parseProcAddress("00000000000000000000000001000000:0050")).toEqual({ host: "::1", port: 80 });
    expect(parseProcAddress("00000000000000000000000000000000:0050")).toEqual({ host: "::", port: 80 });
    expect(parseProcAddress("nonsense")).toBeNull();
  });

  test("is found for a real listening descriptor", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
    expect(boundAddress(fd)).toEqual({
      host: "127.0.0.1",
      port: typeof address === "object" ? address?.port : 0,
    });
    expect(boundAddress(0)).toBeNull();
    await new Promise((resolve) => server.close(resolve));
  });
});
