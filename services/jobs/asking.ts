// A job that goes on with a person's word only: its row is put to wait, and whoever may answer is told by mail where one
// is configured and their name is a mail address. Invariants: the row waits before anybody is told; a mail that fails
// changes nothing; what the call would do stands in Owl alone.

import { findAsked, listAnswerers, type WaitingKind, waitForOwner } from "../db/waiting.ts";
import type { HandlerResult, JobContext } from "./handler.ts";

/** running -> waiting: the claim is given up. */
export async function waitForWord(context: JobContext, kind: WaitingKind): Promise<HandlerResult> {
  const { id, attempt, config, log } = context;
  const result = await context.end((sql) => waitForOwner(sql, { kind, id, attempt }));
  if (result !== "ended") return result;
  if (config.mail !== null) {
    await tellByMail(context, kind).catch((error: unknown) => log.warn({ err: error }, "nobody was told by mail"));
  }
  return "waiting";
}

async function tellByMail(context: JobContext, kind: WaitingKind): Promise<void> {
  const { db, id, attempt, config, text, signal } = context;
  const asked = await findAsked(db, kind, id);
  const [first] = asked?.steps ?? [];
  if (!asked || !first) return;
  const isApproval = first.asks === "approval";
  const { approvers } = config.tools;
  const administrators = isApproval && approvers !== "owner";
  const owner = !isApproval || approvers !== "onlyAdministrators";
  const to = await listAnswerers(db, asked.accountId, { owner, administrators });
  if (to.length === 0) return;
  const { sendMail } = await import("../tools/acting/mail.ts");
  const values = { tool: first.name, place: asked.place };
  const subject = text(isApproval ? "asked.approval" : "asked.outcome", values);
  const message = { to, subject, text: `${subject}\n${text("asked.open", values)}\n` };
  const outcome = await sendMail(message, { signal, key: `asked:${id}:${attempt}` }, config.mail);
  if (outcome.kind !== "finished") context.log.warn({ reason: outcome.reason }, "nobody was told by mail");
}
