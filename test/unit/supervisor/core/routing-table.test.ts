import { expect, test } from "vitest";
import type { ServiceConfig } from "../../../../config/config.ts";
import type { Instance } from "../../../../supervisor/core/instance.ts";
import { buildTable, routesOf } from "../../../../supervisor/core/routing-table.ts";
import { instance } from "../../../support/rollout-world.ts";

const routes = [{ host: "*", path: "/", bodyBytes: null }];
const web = (number: number) =>
  instance({ id: `web-${number}`, service: "web", number, target: { socket: `/run/web-${number}.sock` } });

test("only those ready and staying are in the table", () => {
  const instances = [
    web(1),
    { ...web(2), state: "starting" as const },
    { ...web(3), state: "unhealthy" as const },
    { ...web(4), leaving: "unrouting" as const, wanted: "down" as const },
  ];
  const table = buildTable([{ name: "web", routes, closed: null }], instances, 3);
  expect(table).toEqual({
    version: 3,
    routes: [
      {
        service: "web",
        ...routes[0],
        upstreams: [{ id: "web-1", target: { socket: "/run/web-1.sock" } }],
        closed: null,
      },
    ],
  });
});

test("a service without routes is not in it", () => {
  expect(buildTable([{ name: "web", routes: [], closed: null }], [web(1)], 1).routes).toEqual([]);
});

test("a route with files has no upstreams; what is tried out adds its directory until it is over", () => {
  const site = (directory: string) =>
    ({ routes: [{ ...routes[0], files: { directory, within: "", cacheS: null } }] }) as unknown as ServiceConfig;
  const [route] = routesOf(site("/old"), site("/new"), []);
  expect(route?.files).toEqual({ directories: ["/old", "/new"], cacheS: null });
  expect(routesOf(site("/old"), site("/old"), [])[0]?.files?.directories).toEqual(["/old"]);
  const table = buildTable([{ name: "web", routes: route === undefined ? [] : [route], closed: null }], [web(1)], 1);
  expect(table.routes[0]).toMatchObject({ upstreams: [], files: { directories: ["/old", "/new"] } });
});

test("what ran before is looked into for files that clients keep, not for others nor outside of its release", () => {
  const kept = (within: string | null, cacheS: number | null) => {
    const files = { directory: "/now/dist", within, cacheS };
    const site = { routes: [{ ...routes[0], files }] } as unknown as ServiceConfig;
    return routesOf(site, undefined, ["/r/2/code", "/r/1/code"])[0]?.files?.kept;
  };
  expect(kept("dist", 60)).toEqual(["/r/2/code/dist", "/r/1/code/dist"]);
  expect([kept("dist", null), kept("dist", 0), kept(null, 60)]).toEqual([undefined, undefined, undefined]);
});

test("one set aside is there for when nobody else can be reached, until it goes", () => {
  const aside = { ...web(1), aside: true };
  const table = (one: Instance) => buildTable([{ name: "web", routes, closed: null }], [one, web(2)], 1).routes[0];
  expect(table(aside)?.upstreams.map(({ id }) => id)).toEqual(["web-2"]);
  expect(table(aside)?.fallback?.map(({ id }) => id)).toEqual(["web-1"]);
  expect(table({ ...aside, leaving: "unrouting", wanted: "down" })?.fallback).toBeUndefined();
  expect(table({ ...aside, state: "unhealthy" })?.fallback).toBeUndefined();
});
