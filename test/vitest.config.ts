// One configuration: `npm test` runs unit, integration and whole, `npm run test:system` runs system.
// Two files at a time, whatever the machine has: most of a file is waiting for processes, and two cores bear no more.
// Bounds are wide everywhere: they end a test that hangs, they judge no speed.

import { defineConfig } from "vitest/config";

/** Each of these runs many whole Owls by itself, so it runs alone. */
const WHOLE = ["test/integration/chaos/**/*.test.ts", "test/integration/supervisor/rollout/**/*.test.ts"];

const shared = { pool: "forks", expect: { poll: { timeout: 60_000 } } } as const;

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["test/unit/**/*.test.{ts,tsx}"],
          testTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          exclude: WHOLE,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: "whole",
          include: WHOLE,
          testTimeout: 600_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...shared,
          name: "system",
          include: ["test/system/**/*.test.ts", "test/browser/**/*.test.ts"],
          testTimeout: 900_000,
          hookTimeout: 900_000,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
