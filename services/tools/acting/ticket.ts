// The ticket tool: a webhook gets title, description and fields as JSON, and answers with the ticket's id.

import { type HttpDeps, sendHttp } from "./http-request.ts";
import type { ActingCall, Outcome } from "./outcome.ts";

export interface TicketInput {
  readonly url: string;
  readonly title: string;
  readonly description?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly timeoutSeconds?: number;
}

/** Opens it; the output is `{status, id, url, body}` as far as the webhook told. */
export async function openTicket(input: TicketInput, call: ActingCall, deps: HttpDeps): Promise<Outcome> {
  const { url, headers, timeoutSeconds, title, description = "", fields = {} } = input;
  const body = { ...fields, title, description, key: call.key };
  const request = {
    url,
    method: "POST",
    body,
    ...(headers ? { headers } : {}),
    ...(timeoutSeconds ? { timeoutSeconds } : {}),
  };
  const outcome = await sendHttp(request, call, deps);
  if (outcome.kind !== "finished") return outcome;
  const answer = outcome.output as { status: number; body: unknown; headers: { location?: string } };
  const told = typeof answer.body === "object" && answer.body !== null ? (answer.body as Record<string, unknown>) : {};
  const id = told.id ?? told.number ?? null;
  const where = told.url ?? told.html_url ?? answer.headers.location ?? null;
  return { kind: "finished", output: { status: answer.status, id, url: where, body: answer.body } };
}
