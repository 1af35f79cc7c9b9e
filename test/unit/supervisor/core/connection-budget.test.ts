import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  admitInstance,
  assessBudget,
  OWN_CONNECTIONS,
  overDeclared,
} from "../../../../supervisor/core/connection-budget.ts";
import { en } from "../../../../supervisor/core/text/text.ts";

const reference = [
  { name: "web", replicas: 2, connections: 144 },
  { name: "worker", replicas: 2, connections: 35 },
];

describe("the reference figures", () => {
  test("two web of 144 and two workers of 35 are 358 steady and 502 while web is replaced", () => {
    expect(assessBudget(reference, 597)).toMatchObject({ steady: 358, surge: 502, verdict: "ok" });
  });

  test("with max_connections 300 the steady sum already fails", () => {
    expect(assessBudget(reference, 297)).toMatchObject({ steady: 358, limit: 297, verdict: "fail" });
  });

  test("a limit between the two sums is a warning only", () => {
    expect(assessBudget(reference, 400).verdict).toBe("warn");
  });
});

describe("admission", () => {
  test("counts draining instances too and says the sum it refused", () => {
    const living = [144, 144, 144, 35, 35];
    expect(admitInstance(living, { name: "web-6", connections: 144 }, 597)).toMatchObject({
      admitted: false,
      sum: 646,
      limit: 597,
    });
    expect(admitInstance(living, { name: "worker-7", connections: 35 }, 597)).toEqual({ admitted: true, sum: 537 });
  });

  test("never refuses a service without connections, nor one whose server's limit is unknown", () => {
    expect(admitInstance([500], { name: "site-1", connections: 0 }, 100).admitted).toBe(true);
    expect(admitInstance([500], { name: "web-1", connections: 144 }, null).admitted).toBe(true);
  });

  test("what is admitted one by one never goes over the limit, and stops only where one more would", () => {
    const service = fc.record({
      name: fc.constantFrom("web", "worker", "site"),
      replicas: fc.integer({ min: 1, max: 5 }),
      connections: fc.integer({ min: 1, max: 200 }),
    });
    const services = fc.uniqueArray(service, { minLength: 1, selector: (s) => s.name });
    fc.assert(
      fc.property(services, fc.integer({ min: 0, max: 2_000 }), (declared, limit) => {
        if (assessBudget(declared, limit).verdict === "fail") return;
        for (const one of declared) {
          const living = declared.flatMap((s) => Array<number>(s.replicas).fill(s.connections));
          while (admitInstance(living, one, limit).admitted) living.push(one.connections);
          const sum = living.reduce((a, b) => a + b, OWN_CONNECTIONS);
          expect(sum).toBeLessThanOrEqual(limit);
          expect(sum + one.connections).toBeGreaterThan(limit);
        }
      }),
      { seed: 20, numRuns: 300 },
    );
  });
});

test("an instance with more connections open than declared is named", () => {
  const config = { services: [{ name: "web", connections: 10 }] };
  const instances = [
    { id: "web-7", service: "web" },
    { id: "web-8", service: "web" },
  ];
  const said = overDeclared(config, instances, { "owl/web-7": 11, "owl/web-8": 10, "owl/owld": 2 });
  expect(said.map((say) => say(en))).toEqual([
    "web-7 has 11 connections open but declares 10: raise services.web.connections.",
  ]);
});
