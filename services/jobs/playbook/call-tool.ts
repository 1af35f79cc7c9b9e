// One step's call. Invariant: it gives an outcome and does not throw for what the tool can do wrong.

import type { AppConfig } from "../../../config/config.ts";
import { OwlError } from "../../../config/errors.ts";
import type { PlaybookStep } from "../../core/playbook.ts";
import { type HttpInput, sendHttp } from "../../tools/acting/http-request.ts";
import type { MailInput } from "../../tools/acting/mail.ts";
import type { Outcome } from "../../tools/acting/outcome.ts";
import type { Reach } from "../../tools/acting/reach.ts";
import { openTicket, type TicketInput } from "../../tools/acting/ticket.ts";
import { withoutEnd } from "../../tools/run-sql.ts";
import type { Sources } from "../../tools/sources.ts";
import type { JobContext } from "../handler.ts";

export interface PlaybookDeps {
  readonly config: AppConfig;
  readonly sources: Sources;
  /** What its HTTP calls may reach. */
  readonly reach: Reach;
}

interface SqlInput {
  readonly dataSource: string;
  readonly sql: string;
  readonly values?: readonly unknown[];
}

/** Calls the step's tool with its filled-in and checked input. */
export async function callTool(
  deps: PlaybookDeps,
  context: JobContext,
  work: {
    readonly step: PlaybookStep;
    readonly input: Readonly<Record<string, unknown>>;
    readonly accountId: string;
    readonly signal: AbortSignal;
  },
): Promise<Outcome> {
  const { clock } = context;
  const { step, input, signal } = work;
  const call = { signal, key: `${context.id}:${step.id}` };
  switch (step.tool) {
    case "sql":
      return runSql(deps, input as unknown as SqlInput, signal, work.accountId);
    case "http":
      return sendHttp(input as unknown as HttpInput, call, { clock, reach: deps.reach });
    case "ticket":
      return openTicket(input as unknown as TicketInput, call, { clock, reach: deps.reach });
    case "mail": {
      const { sendMail } = await import("../../tools/acting/mail.ts");
      return sendMail(input as unknown as MailInput, call, deps.config.mail);
    }
  }
}

/** Reading changes nothing: a statement that was cut has failed, it is not unknown. */
async function runSql(deps: PlaybookDeps, input: SqlInput, signal: AbortSignal, accountId: string): Promise<Outcome> {
  try {
    const { dataSource, values = [] } = input;
    const { columns, rows, cut } = await deps.sources.run(dataSource, withoutEnd(input.sql), signal, values, accountId);
    const records = rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
    return { kind: "finished", output: { columns, rows: records, rowCount: rows.length, ...(cut ? { cut } : {}) } };
  } catch (error) {
    if (error instanceof OwlError) return { kind: "failed", reason: error.message };
    if (signal.aborted) return { kind: "failed", reason: "The statement was cut off." };
    throw error;
  }
}
