// One question's trace through the real processes: proxy, web, worker and its model, as a collector is told of it.

import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { proxySpanOf, traceOf, webSpanOf } from "../../../config/trace-ids.ts";
import { startTestModel, type TestModel } from "../../support/model.ts";
import { onRequests } from "../../support/proxy/messages.ts";
import { type Rig, startRig } from "../../support/proxy/rig.ts";
import { type AppConfigChange, createWebClient, type Services, startServices, until } from "../../support/services.ts";

interface Told {
  readonly process: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status?: { readonly code?: number; readonly message?: string };
}

const told: Told[] = [];
let raw = "";
let collector: Server;
let model: TestModel;
let services: Services;
let rig: Rig;

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    raw += text;
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      const attributes: { key: string; value: { stringValue: string } }[] = resource.attributes;
      const process = attributes.find(({ key }) => key === "service.name")?.value.stringValue ?? "";
      for (const { spans } of scopeSpans) for (const span of spans) told.push({ process, ...span });
    }
    response.end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const traces = { url: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`, share: 1 };
  model = await startTestModel();
  services = await startServices({
    model: { baseUrl: model.baseUrl, apiKey: null, name: "scripted" } as AppConfigChange["model"],
    traces,
  });
  rig = await startRig({ traces, trust: ["127.0.0.0/8"] });
});
afterAll(async () => {
  await rig.stop();
  await services.stop();
  await model.stop();
  collector.close();
});

test("a service goes on with its client's own trace, else with the request's", async () => {
  const upstream = await rig.addUpstream("own", (socket) =>
    onRequests(socket, () => socket.write("HTTP/1.1 204 No Content\r\n\r\n")),
  );
  await rig.route(["own"]);
  const [theirs, requestId] = ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", randomUUID()];
  const ask = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${rig.port}/`, { headers });
  await ask({ traceparent: theirs });
  await ask({ "x-request-id": requestId });
  await ask({ "x-request-id": "no-uuid" });
  const trace = traceOf(requestId) ?? "";
  const sent = upstream.received
    .map(String)
    .join("")
    .match(/^traceparent: .*$/gm)
    ?.map((line) => line.trim());
  expect(sent).toEqual([`traceparent: ${theirs}`, `traceparent: 00-${trace}-${proxySpanOf(trace)}-01`]);
});

test("a question's trace leads from the proxy's request to the model's call, and tells nothing of what was said", async () => {
  const web = await services.web();
  await services.worker();
  await rig.routes([rig.routeTo([], { upstreams: [{ id: "web-1", target: { socket: web.socket } }] })]);
  const client = createWebClient(rig.port);
  await client.signIn();
  const { conversation } = await client.ask("hello").then(async (asked) => {
    await client.ended(asked.turnId);
    return asked;
  });
  const requestId = randomUUID();
  const turn = await client.call(
    "POST",
    `/api/conversations/${conversation}/turns`,
    { text: "sql: SELECT 'very secret words'" },
    { "x-request-id": requestId, "idempotency-key": randomUUID() },
  );
  expect((await client.ended(turn.body.turnId)).state).toBe("answered");
  const trace = traceOf(requestId) ?? "";
  const spans = await until("all is told", () => {
    const found = told.filter(({ traceId }) => traceId === trace);
    return found.length >= 6 && found;
  });
  const chat = spans.find(({ name }) => name === "chat");
  const route = "POST /api/conversations/:id/turns";
  const tree = spans.map((span) => [span.process, span.name, span.parentSpanId ?? null]).sort();
  expect(tree).toEqual(
    [
      ["proxy", "POST web", null],
      ["web", route, proxySpanOf(trace)],
      ["worker", "chat", webSpanOf(trace)],
      ["worker", "model", chat?.spanId],
      ["worker", "model", chat?.spanId],
      ["worker", "tool run_sql", chat?.spanId],
    ].sort(),
  );
  expect(spans.filter(({ status }) => status?.code === 2)).toEqual([]);
  const calls = spans.filter(({ name }) => name === "model").map(({ spanId }) => `00-${trace}-${spanId}-01`);
  expect(model.log.flatMap(({ traceparent }) => (traceparent?.includes(trace) ? [traceparent] : [])).sort()).toEqual(
    calls.sort(),
  );
  expect(raw).not.toMatch(/secret|hello/);
});
