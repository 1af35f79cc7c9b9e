// The mail tool: one message over SMTP. Invariant: a message whose text was on its way when the connection broke is
// `unknown`; it is never sent again by us.

import { createTransport } from "nodemailer";
import type { AppConfig } from "../../../config/config.ts";
import type { ActingCall, Outcome } from "./outcome.ts";

export interface MailInput {
  readonly to: string | readonly string[];
  readonly cc?: string | readonly string[];
  readonly subject: string;
  readonly text: string;
}

const list = (value: string | readonly string[] | undefined): string[] =>
  value === undefined ? [] : typeof value === "string" ? [value] : [...value];

/** Sends it by `mail.smtp` of owl.yaml; `finished` is the server's own acceptance. */
export async function sendMail(input: MailInput, call: ActingCall, mail: AppConfig["mail"]): Promise<Outcome> {
  if (mail === null) return { kind: "failed", reason: "No mail server is configured (mail.smtp in owl.yaml)." };
  const transport = createTransport({
    url: mail.smtp,
    connectionTimeout: 15_000,
    greetingTimeout: 15_000,
    socketTimeout: 60_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as Parameters<typeof createTransport>[0]);
  let cut = false;
  const onAbort = () => {
    cut = true;
    transport.close();
  };
  if (call.signal.aborted) return { kind: "failed", reason: "The run was ended before the mail was sent." };
  const aborted = new Promise<never>((_, reject) => {
    call.signal.addEventListener(
      "abort",
      () => {
        onAbort();
        reject(new Error("cut off"));
      },
      { once: true },
    );
  });
  // Unheard when the mail is sent first.
  aborted.catch(() => undefined);
  try {
    const message = {
      from: mail.from,
      to: list(input.to),
      cc: list(input.cc),
      subject: input.subject,
      text: input.text,
      messageId: `<${call.key.replaceAll(/[^A-Za-z0-9.-]/g, ".")}@owl>`,
    };
    const sent = await Promise.race([transport.sendMail(message), aborted]);
    return {
      kind: "finished",
      output: { messageId: sent.messageId, accepted: sent.accepted, rejected: sent.rejected, response: sent.response },
    };
  } catch (error) {
    if (cut) return { kind: "unknown", reason: "The mail was cut off while it was being sent." };
    return judge(error as Error & { command?: string; responseCode?: number; code?: string });
  } finally {
    transport.close();
  }
}

/** Before the server was given the text, nothing was sent; a refusal by the server is an answer as well. */
function judge(error: Error & { command?: string; responseCode?: number; code?: string }): Outcome {
  const before = ["CONN", "EHLO", "HELO", "STARTTLS", "MAIL FROM", "RCPT TO"];
  const early = error.command !== undefined && (before.includes(error.command) || error.command.startsWith("AUTH"));
  const refused = error.responseCode !== undefined && error.responseCode >= 400;
  const configuration = ["EDNS", "ECONFIG", "EAUTH", "EENVELOPE", "ENOAUTH"].includes(error.code ?? "");
  const reason = `The mail server: ${error.message}.`;
  return early || refused || configuration ? { kind: "failed", reason } : { kind: "unknown", reason };
}
