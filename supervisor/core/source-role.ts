// What the role of a data source may do that no question needs, and the statements that take it away. Pure.

/** A role as its own database tells it. */
export interface SourceRole {
  readonly name: string;
  readonly superuser: boolean;
  /** It owns a table, or may write one: an example of them, quoted; null: none. */
  readonly writes: string | null;
  /** May make schemas in the database, or tables in `public`. */
  readonly creates: boolean;
  /** Roles of PostgreSQL's own it is in: files, programs, other people's statements. */
  readonly memberOf: readonly string[];
  /** -1: as much as the disk holds. */
  readonly tempFileLimitKiB: number;
  readonly database: string;
}

type RoleFault = "superuser" | "writes" | "creates" | "memberOf" | "tempFiles";

/** What is wrong with it, most dangerous first, each with the statement an administrator of that database runs. */
export function roleFaults(role: SourceRole): readonly { readonly fault: RoleFault; readonly sql: string }[] {
  const name = quoted(role.name);
  const found: { fault: RoleFault; sql: string }[] = [];
  // A superuser may do all the rest: what else is told then is only noise.
  if (role.superuser) found.push({ fault: "superuser", sql: `ALTER ROLE ${name} NOSUPERUSER` });
  else {
    if (role.memberOf.length > 0)
      found.push({ fault: "memberOf", sql: `REVOKE ${role.memberOf.map(quoted).join(", ")} FROM ${name}` });
    if (role.writes !== null)
      found.push({
        fault: "writes",
        sql: `CREATE ROLE owl_reader LOGIN PASSWORD '…'; GRANT pg_read_all_data TO owl_reader -- it may write ${role.writes}`,
      });
    if (role.creates)
      found.push({
        fault: "creates",
        sql: `REVOKE CREATE ON DATABASE ${quoted(role.database)} FROM PUBLIC, ${name}; REVOKE CREATE ON SCHEMA public FROM PUBLIC, ${name}`,
      });
  }
  if (role.tempFileLimitKiB < 0)
    found.push({ fault: "tempFiles", sql: `ALTER ROLE ${name} SET temp_file_limit = '1GB'` });
  return found;
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
