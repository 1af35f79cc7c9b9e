// Data sources by name: those of owl.yaml and those prepare added (the demo). One connection per running statement, all
// of a process under one cap; a statement is read-only, bounded in time, rows and bytes, and cancelled in the database.

import pg from "pg";
import type { AppConfig } from "../../config/config.ts";
import type { Clock } from "../../config/time.ts";
import { failure } from "../core/wire/errors.ts";
import { boundBackend } from "../db/own-backend.ts";
import type { Database } from "../db/pool.ts";
import { createPlaces } from "./places.ts";
import { runStatement, STATEMENT_LIMITS, type StatementLimits, type StatementResult } from "./statement.ts";
import { createStatementBudget } from "./statement-budget.ts";

/** Every turn asks for the names; what prepare added a moment ago may be missing for so long. */
const NAMES_KEPT_MS = 1_000;

export interface Sources {
  names(): Promise<readonly string[]>;
  /**
   * Runs one read-only statement, within the budget of `accountId` where it is an account's own. Throws
   * `source.notFound`, `source.away`, `sql.refused` (with the database's words), `limit.statementsPerMinute`.
   */
  run(
    source: string,
    sql: string,
    signal: AbortSignal,
    values?: readonly unknown[],
    accountId?: string | null,
  ): Promise<StatementResult>;
  stop(): Promise<void>;
}

interface SourcesDeps {
  readonly config: AppConfig;
  readonly db: Database;
  readonly clock: Clock;
  /** Connections at once, over all sources. */
  readonly max: number;
  readonly onError: (error: Error) => void;
  readonly limits?: StatementLimits;
}

/** Those of them that are named: to whoever has it, there are no others. */
export function onlySources(sources: Sources, names: readonly string[]): Sources {
  return {
    ...sources,
    names: () => Promise.resolve(names),
    run: (source, ...rest) =>
      names.includes(source)
        ? sources.run(source, ...rest)
        : Promise.reject(failure("source.notFound", { name: source })),
  };
}

export function createSources(deps: SourcesDeps): Sources {
  const limits = deps.limits ?? STATEMENT_LIMITS;
  const places = createPlaces(deps.max);
  const budget = createStatementBudget(deps.config.limits, deps.clock);
  const open = new Set<pg.Client>();
  let known: { readonly names: readonly string[]; readonly at: number } | null = null;

  async function all(): Promise<ReadonlyMap<string, string>> {
    const { rows } = await deps.db.query<{ name: string; url: string }>("SELECT name, url FROM owl.data_source");
    const given = Object.entries(deps.config.dataSources).map(([name, { url }]) => [name, url] as const);
    return new Map([...given, ...rows.map((row) => [row.name, row.url] as const)]);
  }

  async function connect(source: string, url: string): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 10_000,
      statement_timeout: limits.timeoutMs,
      options: "-c default_transaction_read_only=on",
    });
    client.on("error", deps.onError);
    try {
      await client.connect();
      open.add(client);
      await boundBackend(client);
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw failure("source.away", { source, why: (error as Error).message }, { cause: error });
    }
  }

  async function names(): Promise<readonly string[]> {
    const now = deps.clock.monotonicMs();
    if (known !== null && now - known.at < NAMES_KEPT_MS) return known.names;
    const found = [...(await all()).keys()];
    known = { names: found, at: now };
    return found;
  }

  return {
    names,
    async run(source, sql, signal, values = [], accountId = null) {
      const url = (await all()).get(source);
      if (url === undefined) throw failure("source.notFound", { name: source });
      const leaveBudget = accountId === null ? () => undefined : await budget.enter(accountId, signal);
      try {
        const leave = await places.enter(signal);
        try {
          const client = await connect(source, url);
          try {
            return await runStatement(client, { sql, values, signal, limits, clock: deps.clock });
          } finally {
            open.delete(client);
            await client.end().catch(() => undefined);
          }
        } finally {
          leave();
        }
      } finally {
        leaveBudget();
      }
    },
    async stop() {
      await Promise.allSettled([...open].map((client) => client.end()));
    },
  };
}
