// Approvals as the routes write them: one row for owld, one line in the audit trail, both or neither.

import type { FastifyRequest } from "fastify";
import { OwlError } from "../../config/errors.ts";
import { recordAudit } from "../db/audit.ts";
import type { Sql } from "../db/pool.ts";
import { type ApprovalKind, insertApproval } from "../db/system.ts";
import { administratorOf } from "./sessions.ts";

/** What approving answers, for the API document. */
export const approvalAccepted = { type: "object", properties: { approvalId: { type: "string" } } } as const;

const ACTIONS = {
  update: "update.approved",
  restart: "restart.asked",
  rollback: "rollback.approved",
} as const satisfies Record<ApprovalKind, string>;

interface NewApproval {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly version: string | null;
  readonly services: readonly string[] | null;
}

/** Writes the approval in `sql`'s transaction. Throws `approval.open` (409) while another one is under way. */
export async function approve(sql: Sql, request: FastifyRequest, approval: NewApproval): Promise<void> {
  const account = administratorOf(request);
  if (!(await insertApproval(sql, { ...approval, account })))
    throw new OwlError("approval.open", "An approved update, rollback or restart is still under way.", {
      next: "Wait for its end; its progress is on this page.",
    });
  await audit(sql, request, ACTIONS[approval.kind], approval.version ?? approval.services?.join(", ") ?? "all");
}

/** A line in the audit trail about the administrator who asks. */
export async function audit(sql: Sql, request: FastifyRequest, action: string, target: string): Promise<void> {
  const { id: accountId, name: accountName } = administratorOf(request);
  await recordAudit(sql, { accountId, accountName, address: request.ip, action, target });
}
