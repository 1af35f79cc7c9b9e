import { expect, test } from "vitest";
import { kernelHex } from "../../../../supervisor/process/held-listeners.ts";

test.each([
  ["127.0.0.1", "IPv4", "0100007F"],
  ["0.0.0.0", "IPv4", "00000000"],
  ["192.168.10.2", "IPv4", "020AA8C0"],
  ["::", "IPv6", "00000000000000000000000000000000"],
  ["::1", "IPv6", "00000000000000000000000001000000"],
  ["2001:db8::ff00:42:8329", "IPv6", "B80D01200000000000FF000029834200"],
  ["::ffff:127.0.0.1", "IPv6", "0000000000000000FFFF00000100007F"],
  ["fe80::1%eth0", "IPv6", "000080FE000000000000000001000000"],
])("%s is what /proc/net/tcp prints of it", (address, family, hex) => {
  expect(kernelHex({ address, family })).toBe(hex);
});
