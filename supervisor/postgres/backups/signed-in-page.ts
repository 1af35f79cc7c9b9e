// The last look of a drill: an account of its own in the scratch home signs in and sees a page.

import type { Status } from "../../../config/control-api.ts";
import { request as httpRequest } from "../../../config/http.ts";
import type { Clock, Random } from "../../../config/time.ts";
import { Refusal } from "../../core/text/refusal.ts";

const UP_MS = 300_000;
const LOOK_MS = 200;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly cookies: readonly string[];
}

/** Resolves with what was seen. Throws `backup.page`, `backup.notUp`. */
export async function signedInPage(parts: {
  readonly socket: string;
  readonly port: number;
  readonly clock: Clock;
  readonly random: Random;
}): Promise<string> {
  const { socket, port, clock, random } = parts;
  const fromMs = clock.monotonicMs();
  for (;;) {
    const answer = await ask({ socketPath: socket }, "GET", "/v1/status").catch(() => null);
    const status = answer?.status === 200 ? (JSON.parse(answer.text) as Status) : null;
    if (status?.services.some(({ name, ready }) => name === "web" && ready > 0)) break;
    if (clock.monotonicMs() - fromMs > UP_MS)
      throw new Refusal("backup.notUp", ({ refused }) => refused.backup.notUp(`${UP_MS / 1_000} s`));
    await clock.sleep(LOOK_MS);
  }
  const account = { name: `drill-${random.uuid().slice(0, 8)}`, password: random.token(18) };
  expectStatus(await ask({ socketPath: socket }, "POST", "/v1/app/users", account), 201, "POST /v1/app/users");
  const through = { host: "127.0.0.1", port };
  const session = expectStatus(await ask(through, "POST", "/api/session", account), 200, "POST /api/session");
  const cookie = session.cookies.map((one) => one.split(";")[0]).join("; ");
  const page = expectStatus(await ask(through, "GET", "/", undefined, cookie), 200, "GET /");
  const own = expectStatus(await ask(through, "GET", "/api/session", undefined, cookie), 200, "GET /api/session");
  if (!own.text.includes(account.name))
    throw new Refusal("backup.page", ({ refused }) => refused.backup.page("GET /api/session", 200));
  return `GET / ${page.text.length} bytes, signed in as ${account.name}`;
}

function expectStatus(answer: Answer, status: number, what: string): Answer {
  if (answer.status === status) return answer;
  throw new Refusal("backup.page", ({ refused }) => refused.backup.page(what, answer.status));
}

function ask(
  to: { readonly socketPath: string } | { readonly host: string; readonly port: number },
  method: string,
  path: string,
  body?: unknown,
  cookie?: string,
): Promise<Answer> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...(payload === undefined
      ? {}
      : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) }),
    ...(cookie === undefined ? {} : { cookie }),
  };
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ ...to, method, path, headers, agent: false, timeout: 30_000 }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text, cookies: response.headers["set-cookie"] ?? [] }),
      );
      response.on("error", reject);
    });
    asked.on("timeout", () => asked.destroy(new Error("it did not answer within 30 s")));
    asked.on("error", reject);
    asked.end(payload);
  });
}
