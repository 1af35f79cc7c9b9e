// Suggestions are near or absent.

import { expect, test } from "vitest";
import { nearest } from "../../../config/nearest.ts";

test.each([
  ["replica", ["replicas", "routes"], "replicas"],
  ["wbe", ["web", "worker"], "web"],
  ["workr", ["web", "worker"], "worker"],
  ["Proxy", ["proxy"], "proxy"],
  ["zzzzzz", ["web", "worker"], null],
  ["x", ["a", "b"], null],
])("%s among %j means %s", (word, candidates, wanted) => expect(nearest(word, candidates)).toBe(wanted));
