// Preflight: facts about the machine, the database and the configuration -> lines with a verdict, what was read, why it
// matters, and a command. Pure: preflight-facts.ts reads, this judges.
// Invariant: every check gives at least one line, also when it could not be asked (WARN, never silence).

import type { PreflightLine } from "../../config/control-api.ts";
import { formatDuration, formatSize } from "../../config/units.ts";
import { type CertificateFacts, judgeCertificate } from "./certificate.ts";
import { type ConnectionBudget, OWN_CONNECTIONS } from "./connection-budget.ts";
import type { Unfit } from "./control-groups.ts";
import { roleFaults, type SourceRole } from "./source-role.ts";
import type { Text } from "./text/text.ts";
import type { Wrapper } from "./wrapper-command.ts";

type PreflightText = Text["preflight"];

export interface PreflightFacts {
  readonly configuration: {
    readonly file: string | null;
    /** What reading it now would refuse; empty when it would be taken. */
    readonly problems: readonly string[];
    /** Duplicate keys and values cut at `#` in env files, and the like. */
    readonly warnings: readonly string[];
  };
  readonly budgets: {
    readonly finishMs: number;
    readonly wrapUpMs: number;
    readonly claimMs: number;
    readonly graceMs: number;
    /** The bundled application, or `turn` given. */
    readonly apply: boolean;
    /** 95th percentile of answered turns, when enough were measured. */
    readonly turnP95Ms: number | null;
  };
  readonly wrappers: readonly {
    readonly service: string;
    readonly wrapper: Wrapper;
    readonly scriptText: string | null;
  }[];
  /** Services that cannot be started as the file system stands. */
  readonly programs: readonly {
    readonly service: string;
    readonly kind: "cwd" | "command" | "unfit" | "check";
    readonly what: string;
  }[];
  /** null: no TLS. */
  readonly certificate: CertificateFacts | null;
  /** null: no database in this installation. */
  readonly database: DatabaseFacts | null;
  readonly disk: readonly {
    readonly use: "release" | "dump" | "logs";
    readonly path: string;
    readonly freeBytes: number | null;
    readonly neededBytes: number;
  }[];
  readonly memory: { readonly availableBytes: number | null; readonly largestInstanceBytes: number | null };
  readonly descriptors: { readonly limit: number | null; readonly needed: number };
  readonly ports: readonly {
    readonly address: string;
    readonly state: "free" | "ours" | "taken" | "denied" | "unknown";
    readonly holder: string | null;
  }[];
  readonly directories: readonly {
    readonly path: string;
    /** Octal mode, or null when it is not there. */
    readonly mode: number | null;
    readonly owner: string | null;
    readonly ours: boolean;
    /** Others may not even look in (sockets, state). */
    readonly closed: boolean;
  }[];
  readonly clock: { readonly nowIso: string; readonly newestFileIso: string | null; readonly behindMs: number };
  /** null: not started by systemd. */
  readonly unit: { readonly name: string; readonly timeoutStopMs: number | null; readonly neededMs: number } | null;
  /** Services that the kernel is to bound; `unfit`: why it cannot, null: it can. */
  readonly limits: { readonly services: readonly string[]; readonly unfit: Unfit | null };
  /** Of owl.yaml's `dataSources`; `error`: what the database said when it did not answer. */
  readonly sources: readonly {
    readonly name: string;
    readonly role: SourceRole | null;
    readonly error: string | null;
  }[];
  readonly endpoints: readonly {
    readonly name: "model" | "transcriber" | "sign-in";
    readonly what: string;
    /** HTTP status; null when nothing answered. 0: a program that is there. */
    readonly status: number | null;
    /** What the system said, or what is wrong with an answer; null: nothing within the bound, or a program not in PATH. */
    readonly error: string | null;
  }[];
}

export interface DatabaseFacts {
  readonly kind: "managed" | "external";
  readonly answers: boolean;
  /** What it said when it did not answer; null: it is not up. */
  readonly reason: string | null;
  readonly version: string | null;
  readonly major: number | null;
  readonly maxConnections: number | null;
  readonly budget: ConnectionBudget;
  /** Connections that are not ours, and whose. */
  readonly strangers: { readonly count: number; readonly names: readonly string[] };
  readonly migrations: {
    readonly pending: readonly string[];
    readonly compatible: boolean;
    readonly refusal: ((text: Text) => string) | null;
  } | null;
  /** A connection pooler that sessions of ours cannot live with; null: none was seen. */
  readonly pooler: "transaction" | "startup" | null;
  readonly pgDump: { readonly path: string; readonly major: number } | null;
}

/** An endpoint that has not answered within this is silent. */
export const ENDPOINT_BOUND_MS = 3_000;

type Verdict = PreflightLine["verdict"];

/** All lines, in the order a person reads them, in the language of `words`. */
export function judgePreflight(facts: PreflightFacts, words: Text): readonly PreflightLine[] {
  const text = words.preflight;
  return [
    ...configuration(facts, text),
    ...budgets(facts, text),
    ...programs(facts, text),
    ...certificate(facts, text),
    ...database(facts.database, words),
    ...disk(facts, text),
    ...memory(facts, text),
    ...machine(facts, text),
    ...ports(facts, text),
    ...directories(facts, text),
    ...unit(facts, text),
    ...limits(facts, text),
    ...endpoints(facts, text),
    ...sources(facts, text),
  ];
}

/** About updates, the proxy's load or the stop of everything: the same before and after a restart. */
const NOT_OF_RESTART: ReadonlySet<string> = new Set([
  "disk-release",
  "disk-dump",
  "pg_dump",
  "turn-length",
  "certificate",
  "file-descriptors",
  "clock",
  "systemd-unit",
]);

/** What of it bears on replacing processes; owld needs no database for that, so a silent one only warns. */
export function ofRestart(line: PreflightLine): readonly PreflightLine[] {
  if (NOT_OF_RESTART.has(line.check)) return [];
  return [line.check === "database" && line.verdict === "FAIL" ? { ...line, verdict: "WARN" } : line];
}

/** Instead of all lines when they could not be read in time. */
export function tooSlow(t: PreflightText, boundMs: number): PreflightLine {
  return line("preflight", "WARN", t.slow.found(durationText(boundMs)), t.slow.why, "owlctl preflight");
}

function line(check: string, verdict: Verdict, found: string, why: string, command: string): PreflightLine {
  return { check, verdict, found, why, command };
}

function configuration({ configuration }: PreflightFacts, t: PreflightText): PreflightLine[] {
  const { file, problems, warnings } = configuration;
  const command = file === null ? "owlctl config check" : `owlctl config check ${file}`;
  if (problems.length > 0) {
    return problems.map((problem) => line("configuration", "FAIL", problem, t.configuration.why, command));
  }
  if (warnings.length > 0) {
    return warnings.map((warning) => line("configuration", "WARN", warning, t.configuration.warningWhy, command));
  }
  return [line("configuration", "OK", t.configuration.valid(file), t.configuration.why, command)];
}

function budgets({ budgets }: PreflightFacts, t: PreflightText): PreflightLine[] {
  if (!budgets.apply) return [];
  const { finishMs, wrapUpMs, graceMs, turnP95Ms } = budgets;
  const fits = finishMs + wrapUpMs < graceMs;
  const sum = t.turnBudget.found(durationText(finishMs), durationText(wrapUpMs), durationText(graceMs));
  const show = "owlctl config show";
  const lines = [line("turn-budget", fits ? "OK" : "FAIL", sum, t.turnBudget.why, show)];
  if (turnP95Ms === null)
    return [...lines, line("turn-length", "OK", t.turnLength.unmeasured, t.turnLength.why, "owlctl turns")];
  const long = turnP95Ms > finishMs;
  const found = t.turnLength.found(durationText(turnP95Ms), durationText(finishMs));
  return [...lines, line("turn-length", long ? "WARN" : "OK", found, t.turnLength.why, "owlctl turns")];
}

function certificate({ certificate, clock }: PreflightFacts, t: PreflightText): PreflightLine[] {
  if (certificate === null) return [];
  const { verdict, found } = judgeCertificate(certificate, Date.parse(clock.nowIso));
  const command = `openssl x509 -noout -dates -ext subjectAltName -in ${certificate.path}`;
  return [line("certificate", verdict, found(t), t.certificate.why, command)];
}

function programs(facts: PreflightFacts, t: PreflightText): PreflightLine[] {
  const missing = facts.programs.map(({ service, kind, what }) => {
    const command = kind === "command" && !what.includes("/") ? `command -v ${what}` : `ls -ld ${what}`;
    return line("commands", "FAIL", t.programs[kind](service, what), t.programs.why, command);
  });
  return [...missing, ...wrappers(facts, t, missing.length === 0)];
}

function wrappers({ wrappers }: PreflightFacts, t: PreflightText, allThere: boolean): PreflightLine[] {
  if (wrappers.length === 0 && !allThere) return [];
  if (wrappers.length === 0) {
    return [line("commands", "OK", t.commands.direct, t.commands.why, "owlctl config show")];
  }
  return wrappers.map(({ service, wrapper, scriptText }) => {
    const fix =
      wrapper.kind === "shell"
        ? t.commands.fixShell(service, wrapper.script ?? "")
        : t.commands.fixRunner(service, scriptText);
    return line(
      "commands",
      "WARN",
      t.commands.found(service, wrapper.name),
      `${t.commands.why} ${fix}`,
      t.commands.edit,
    );
  });
}

function database(facts: DatabaseFacts | null, words: Text): PreflightLine[] {
  const t = words.preflight;
  if (!facts) return [];
  const ask = facts.kind === "managed" ? "owlctl logs postgres" : "psql \"$DATABASE_URL\" -c 'select version()'";
  if (!facts.answers) {
    const found = t.database.silent(facts.kind, facts.reason ?? t.database.down);
    return [line("database", "FAIL", found, t.database.why, ask), ...connections(facts, t)];
  }
  const answer = t.database.answers(facts.kind, facts.version ?? "?", facts.maxConnections ?? 0);
  const old = facts.major !== null && facts.major < 13;
  return [
    line("database", old ? "FAIL" : "OK", answer, t.database.why, ask),
    ...pooler(facts, t),
    ...connections(facts, t),
    ...migrations(facts, words),
    ...dump(facts, t),
  ];
}

function pooler({ pooler }: DatabaseFacts, t: PreflightText): PreflightLine[] {
  if (pooler === null) return [];
  return [line("pooler", "FAIL", t.pooler[pooler], t.pooler.why, t.pooler.edit)];
}

/** Questions run as these roles, for everybody: one line for each, with all that takes away what is too much. */
function sources({ sources }: PreflightFacts, t: PreflightText): PreflightLine[] {
  return sources.map(({ name, role, error }) => {
    if (role === null)
      return line("data-source", "WARN", t.sources.silent(name, error ?? "?"), t.sources.why, "owlctl config show");
    const faults = roleFaults(role);
    if (faults.length === 0)
      return line("data-source", "OK", t.sources.reads(name, role.name), t.sources.why, "owlctl config show");
    const found = t.sources.may(name, role.name, faults.map(({ fault }) => t.sources.fault[fault]).join("; "));
    return line("data-source", "WARN", found, t.sources.why, faults.map(({ sql }) => `${sql};`).join("\n"));
  });
}

function connections({ budget, strangers }: DatabaseFacts, t: PreflightText): PreflightLine[] {
  const command = "owlctl status";
  const sums = t.connections.sums(budget.steady, budget.surge, budget.limit);
  const verdict: Verdict = budget.verdict === "fail" ? "FAIL" : budget.verdict === "warn" ? "WARN" : "OK";
  const why = t.connections.why[budget.verdict];
  const lines = [line("connections", verdict, sums, why, command)];
  if (strangers.count === 0 || budget.limit === null) return lines;
  const tight = budget.surge + OWN_CONNECTIONS + strangers.count > budget.limit;
  const found = t.connections.strangers(strangers.count, strangers.names.join(", "));
  const whose = "psql -c 'select application_name, count(*) from pg_stat_activity group by 1'";
  return [...lines, line("strangers", tight ? "WARN" : "OK", found, t.connections.strangersWhy, whose)];
}

function migrations({ migrations }: DatabaseFacts, words: Text): PreflightLine[] {
  const t = words.preflight;
  if (!migrations) return [];
  const command = "owlctl update --plan";
  if (migrations.refusal !== null)
    return [line("migrations", "FAIL", migrations.refusal(words), t.migrations.why, command)];
  if (migrations.pending.length === 0) return [line("migrations", "OK", t.migrations.none, t.migrations.why, command)];
  const found = t.migrations.pending(migrations.pending.join(", "), migrations.compatible);
  return [line("migrations", migrations.compatible ? "OK" : "WARN", found, t.migrations.why, command)];
}

function dump({ kind, pgDump, major, migrations }: DatabaseFacts, t: PreflightText): PreflightLine[] {
  const install = major === null ? "apt-get install postgresql-client" : `apt-get install postgresql-client-${major}`;
  // A managed server is copied as files; only a team's own one is dumped.
  if (kind === "managed") return [line("pg_dump", "OK", t.dump.managed, t.dump.why, install)];
  const needed = migrations !== null && !migrations.compatible;
  const bad: Verdict = needed ? "FAIL" : "WARN";
  if (!pgDump) return [line("pg_dump", bad, t.dump.missing, t.dump.why, install)];
  const old = major !== null && pgDump.major < major;
  const found = t.dump.found(pgDump.path, pgDump.major, major ?? 0);
  return [line("pg_dump", old ? bad : "OK", found, t.dump.why, install)];
}

function disk({ disk }: PreflightFacts, t: PreflightText): PreflightLine[] {
  return disk.map(({ use, path, freeBytes, neededBytes }) => {
    const command = `df -h ${path}`;
    if (freeBytes === null) return line(`disk-${use}`, "WARN", t.unknown(path), t.disk.why[use], command);
    // Below a tenth of what is wanted even the state file and the logs are about to stop.
    const verdict = freeBytes >= neededBytes ? "OK" : freeBytes >= neededBytes / 10 ? "WARN" : "FAIL";
    const found = t.disk.found(path, formatSize(freeBytes), formatSize(neededBytes));
    return line(`disk-${use}`, verdict, found, t.disk.why[use], command);
  });
}

function memory({ memory }: PreflightFacts, t: PreflightText): PreflightLine[] {
  const { availableBytes, largestInstanceBytes } = memory;
  if (availableBytes === null) return [line("memory", "WARN", t.unknown("/proc/meminfo"), t.memory.why, "free -h")];
  if (largestInstanceBytes === null) {
    return [line("memory", "OK", t.memory.unmeasured(formatSize(availableBytes)), t.memory.why, "free -h")];
  }
  const needed = Math.ceil(largestInstanceBytes * 1.2);
  const found = t.memory.found(formatSize(availableBytes), formatSize(needed));
  return [line("memory", needed <= availableBytes * 0.9 ? "OK" : "WARN", found, t.memory.why, "free -h")];
}

function machine({ descriptors, clock }: PreflightFacts, t: PreflightText): PreflightLine[] {
  const { limit, needed } = descriptors;
  const enough = limit !== null && limit >= needed;
  const files = limit === null ? t.unknown("/proc/self/limits") : t.descriptors.found(limit, needed);
  const late = clock.behindMs > 60_000;
  const time = late ? t.clock.behind(clock.nowIso, clock.newestFileIso ?? "-") : t.clock.found(clock.nowIso);
  return [
    line(
      "file-descriptors",
      enough ? "OK" : "WARN",
      files,
      t.descriptors.why,
      "ulimit -Hn; systemctl edit owl # LimitNOFILE=",
    ),
    line("clock", late ? "WARN" : "OK", time, t.clock.why, "timedatectl"),
  ];
}

function ports({ ports }: PreflightFacts, t: PreflightText): PreflightLine[] {
  return ports.map(({ address, state, holder }) => {
    const verdict = state === "taken" || state === "denied" ? "FAIL" : state === "unknown" ? "WARN" : "OK";
    const port = address.slice(address.lastIndexOf(":") + 1);
    const found = state === "unknown" ? t.unknown(address) : t.ports[state](address, holder ?? "?");
    return line("port", verdict, found, t.ports.why, `ss -ltnp 'sport = :${port}'`);
  });
}

function directories({ directories }: PreflightFacts, t: PreflightText): PreflightLine[] {
  return directories.map(({ path, mode, owner, ours, closed }) => {
    if (mode === null)
      return line("directory", "FAIL", t.directories.missing(path), t.directories.why, `mkdir -p ${path}`);
    const found = t.directories.found(path, owner ?? "?", mode.toString(8).padStart(4, "0"));
    if (!ours) return line("directory", "FAIL", found, t.directories.why, `chown -R "$(id -un)" ${path}`);
    // A sticky directory lets others add but not replace.
    const open = ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) || (closed && (mode & 0o004) !== 0);
    const command = closed ? `chmod go-rw ${path}` : `chmod go-w ${path}`;
    return line("directory", open ? "WARN" : "OK", found, t.directories.why, open ? command : `ls -ld ${path}`);
  });
}

function unit({ unit }: PreflightFacts, t: PreflightText): PreflightLine[] {
  if (!unit) return [];
  const command = `systemctl show ${unit.name} -p TimeoutStopUSec`;
  if (unit.timeoutStopMs === null) return [line("systemd-unit", "WARN", t.unknown(unit.name), t.unit.why, command)];
  const enough = unit.timeoutStopMs >= unit.neededMs;
  const found = t.unit.found(durationText(unit.timeoutStopMs), durationText(unit.neededMs));
  return [line("systemd-unit", enough ? "OK" : "FAIL", found, t.unit.why, enough ? command : "owlctl install")];
}

function limits({ limits }: PreflightFacts, t: PreflightText): PreflightLine[] {
  const { services, unfit } = limits;
  if (services.length === 0) return [];
  const command = "owlctl install && systemctl restart owl";
  if (unfit !== null) return [line("control-groups", "WARN", t.limits.unfit(unfit), t.limits.why, command)];
  return [
    line("control-groups", "OK", t.limits.found(services.join(", ")), t.limits.why, "systemd-cgls -u owl.service"),
  ];
}

function endpoints({ endpoints }: PreflightFacts, t: PreflightText): PreflightLine[] {
  return endpoints.map(({ name, what, status, error }) => {
    const isUrl = /^https?:/.test(what);
    const command = isUrl ? `curl -sS -o /dev/null -w '%{http_code}\\n' ${what}` : `command -v ${what}`;
    const why = t.endpoints.why[name];
    const silence = isUrl ? t.endpoints.late(ENDPOINT_BOUND_MS) : t.endpoints.notInPath;
    if (status === null) return line(name, "WARN", t.endpoints.silent(what, error ?? silence), why, command);
    if (error !== null) return line(name, "WARN", t.endpoints.unfit(what, error), why, command);
    if (status === 0) return line(name, "OK", t.endpoints.program(what), why, command);
    const refused = status === 401 || status === 403;
    const bad = refused || status >= 500;
    return line(name, bad ? "WARN" : "OK", t.endpoints.answers(what, status, refused), why, command);
  });
}

/** A duration as owl.yaml writes it, in whole seconds. */
function durationText(ms: number): string {
  return formatDuration(Math.round(ms / 1_000) * 1_000);
}
