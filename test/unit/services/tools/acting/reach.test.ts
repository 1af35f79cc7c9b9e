// Where the HTTP tool may connect to. Names are judged by the address they lead to.

import { expect, test } from "vitest";
import { createReach } from "../../../../../services/tools/acting/reach.ts";

const closed = createReach([]);

test.each([
  "127.0.0.1",
  "127.9.9.9",
  "0.0.0.0",
  "10.1.2.3",
  "172.31.0.1",
  "192.168.0.1",
  "169.254.169.254",
  "100.64.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:0:7f00:1",
  "4000::1",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
  "fe80::1",
  "fd00::1",
  "ff02::1",
  "not an address",
])("%s is not public", (address) => {
  expect(closed.allows("name.example", 80, address)).toBe(false);
});

test.each(["1.1.1.1", "172.32.0.1", "::ffff:8.8.8.8", "2606:4700::1111"])("%s is public", (address) => {
  expect(closed.allows("name.example", 80, address)).toBe(true);
});

test("the operator's list opens networks, hosts and single ports of hosts", () => {
  const reach = createReach(["10.1.0.0/16", "127.0.0.1", "Tickets.Internal", "mail.internal:8025", "fd00::/8"]);
  expect(reach.allows("any.example", 80, "10.1.9.9")).toBe(true);
  expect(reach.allows("any.example", 80, "10.2.9.9")).toBe(false);
  expect(reach.allows("localhost", 5432, "127.0.0.1")).toBe(true);
  expect(reach.allows("localhost", 5432, "::ffff:127.0.0.1")).toBe(true);
  expect(reach.allows("tickets.internal.", 443, "192.168.1.1")).toBe(true);
  expect(reach.allows("mail.internal", 8025, "192.168.1.1")).toBe(true);
  expect(reach.allows("mail.internal", 25, "192.168.1.1")).toBe(false);
  expect(reach.allows("x", 1, "fd12::1")).toBe(true);
});

test("a name is looked up once, and only addresses that may be reached are handed to the connection", async () => {
  const look = (reach: ReturnType<typeof createReach>, all: boolean) =>
    new Promise((resolve) => {
      reach.lookup(80)("localhost", { all }, (error, found) => resolve(error?.message ?? found));
    });
  expect(await look(closed, false)).toMatch(/localhost:80 is inside a private network/);
  expect(await look(createReach(["127.0.0.0/8"]), false)).toBe("127.0.0.1");
  expect(await look(createReach(["127.0.0.0/8"]), true)).toEqual([{ address: "127.0.0.1", family: 4 }]);
});
