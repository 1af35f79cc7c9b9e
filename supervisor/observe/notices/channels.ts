// The ways out: mail by SMTP, a POST of JSON. Invariants: each ends within TIMEOUT_MS; why it failed is told by a code
// alone, for what a server or a library says may hold the very address that is a secret.

import { asError } from "../../../config/errors.ts";
import type { NotifyConfig } from "../../../config/notify-config.ts";
import type { Clock } from "../../../config/time.ts";
import { CHANNELS, type Channel } from "../../core/notices.ts";

const TIMEOUT_MS = 20_000;

export interface Message {
  /** The same for the same message sent again. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  /** What the webhook gets besides. */
  readonly data: Readonly<Record<string, unknown>>;
}

export const channelsOf = (notify: NotifyConfig): readonly Channel[] =>
  CHANNELS.filter((channel) => notify[channel] !== null);

/** Resolves with null once it was taken, else with why it was not; never rejects. */
export async function send(
  channel: Channel,
  message: Message,
  { notify, clock, signal }: { readonly notify: NotifyConfig; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<string | null> {
  const late = new AbortController();
  const cancel = clock.after(TIMEOUT_MS, () => late.abort(new Error("timeout")), { unref: true });
  const until = AbortSignal.any([signal, late.signal]);
  try {
    if (channel === "mail" && notify.mail !== null) await mail(notify.mail, message, until);
    if (channel === "webhook" && notify.webhook !== null) await post(notify.webhook.url, message, until);
    return null;
  } catch (error) {
    return late.signal.aborted ? "ETIMEDOUT" : codeOf(error);
  } finally {
    cancel();
  }
}

async function mail(
  { to, smtp, from }: NonNullable<NotifyConfig["mail"]>,
  { id, subject, text }: Message,
  signal: AbortSignal,
): Promise<void> {
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    url: smtp,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof createTransport>[0]);
  const cut = Promise.withResolvers<never>();
  const onAbort = (): void => cut.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  // Unheard when the mail is taken first.
  cut.promise.catch(() => undefined);
  const headers = { "auto-submitted": "auto-generated" };
  const sending = transport.sendMail({ from, to: [...to], subject, text, headers, messageId: `<${id}@owl>` });
  sending.catch(() => undefined);
  try {
    await Promise.race([sending, cut.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    transport.close();
  }
}

async function post(url: string, { id, subject, text, data }: Message, signal: AbortSignal): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "owl" },
    body: JSON.stringify({ id, subject, text, ...data }),
    redirect: "error",
    signal,
  });
  await response.body?.cancel();
  if (!response.ok) throw Object.assign(new Error("refused"), { code: `HTTP ${response.status}` });
}

function codeOf(caught: unknown): string {
  const error = asError(caught) as NodeJS.ErrnoException & { readonly responseCode?: number };
  const cause = error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException).code : undefined;
  const code = error.code ?? cause ?? error.name;
  const answer = error.responseCode === undefined ? "" : ` ${error.responseCode}`;
  return /^[A-Za-z0-9_ ]{1,40}$/.test(`${code}`) ? `${code}${answer}` : error.name;
}
