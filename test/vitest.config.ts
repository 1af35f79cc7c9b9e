// One configuration, three projects: `npm test` runs unit and integration, `npm run test:system` runs system.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.{ts,tsx}"], pool: "forks" } },
      {
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          pool: "forks",
        },
      },
      {
        test: {
          name: "system",
          include: ["test/system/**/*.test.ts", "test/browser/**/*.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          pool: "forks",
        },
      },
    ],
  },
});
