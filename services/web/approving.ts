// Approvals as the routes write them: one row for owld, one line in the audit trail, both or neither.

import type { FastifyRequest } from "fastify";
import { failure } from "../core/wire/errors.ts";
import { recordAudit } from "../db/audit.ts";
import type { Sql } from "../db/pool.ts";
import { type ApprovalKind, insertApproval } from "../db/system.ts";
import { accountOf } from "./sessions.ts";

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
  const account = accountOf(request);
  if (!(await insertApproval(sql, { ...approval, account }))) throw failure("approval.open");
  await audit(sql, request, ACTIONS[approval.kind], approval.version ?? approval.services?.join(", ") ?? "all");
}

/** A line in the audit trail about the administrator who asks. */
export async function audit(
  sql: Sql,
  request: FastifyRequest,
  action: string,
  target: string,
  detail: object = {},
): Promise<void> {
  const { id: accountId, name: accountName } = accountOf(request);
  await recordAudit(sql, { accountId, accountName, address: request.ip, action, target, detail: { ...detail } });
}
