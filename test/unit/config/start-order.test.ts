// Services that wait for each other: their order, and circles.

import { expect, test } from "vitest";
import { circleOf, inStartOrder } from "../../../config/start-order.ts";

const service = (name: string, ...dependsOn: string[]) => ({ name, ...(dependsOn.length > 0 ? { dependsOn } : {}) });

test.each([
  ["nobody waits", [service("b"), service("a")], "b a"],
  [
    "whoever is waited for comes first",
    [service("web", "api"), service("jobs"), service("api", "db"), service("db")],
    "db api web jobs",
  ],
  ["an unknown name changes nothing", [service("web", "nobody"), service("api")], "web api"],
])("%s", (_, services, order) => {
  expect(
    inStartOrder(services)
      .map(({ name }) => name)
      .join(" "),
  ).toBe(order);
});

test.each([
  ["a service and itself", [service("a", "a")], ["a", "a"]],
  ["three of four", [service("w", "a"), service("a", "b"), service("b", "c"), service("c", "a")], ["a", "b", "c", "a"]],
  ["two ways to one are none", [service("a", "b", "c"), service("b", "d"), service("c", "d"), service("d")], null],
])("a circle: %s", (_, services, circle) => {
  expect(circleOf(services)).toEqual(circle);
  expect(inStartOrder(services)).toHaveLength(services.length);
});
