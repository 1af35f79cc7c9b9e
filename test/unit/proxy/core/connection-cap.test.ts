// The connections a proxy accepts never need more descriptors than it may have.

import { expect, test } from "vitest";
import { connectionCap, descriptorLimit } from "../../../../supervisor/proxy/core/connection-cap.ts";

test("two descriptors for each connection, and some for the process itself", () => {
  expect(connectionCap(20_000, 262_144)).toBe(20_000);
  expect(connectionCap(20_000, 20_000)).toBe(9_872);
  expect(connectionCap(50, 1_024)).toBe(50);
  expect(connectionCap(20_000, 100)).toBe(1);
  expect(connectionCap(20_000, null)).toBe(20_000);
});

test("the soft limit is read as /proc shows it; unlimited is no limit", () => {
  const text = (soft: string) =>
    `Limit                     Soft Limit           Hard Limit           Units     \nMax processes             1                    2                    processes \nMax open files            ${soft}                20000                files     \n`;
  expect(descriptorLimit(text("1024"))).toBe(1_024);
  expect(descriptorLimit(text("unlimited"))).toBeNull();
  expect(descriptorLimit("")).toBeNull();
});
