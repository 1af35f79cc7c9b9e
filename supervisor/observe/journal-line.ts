// A line of owld's log as people read it in systemd's journal: a sentence, with its priority before it (`<4>`). Pure.

const PRIORITIES: Readonly<Record<number, number>> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 };
/** Named by the sentence itself, or of use to programs only. */
const UNSAID = new Set(["level", "time", "pid", "msg", "type", "service", "instance", "rollout", "data", "err"]);

interface Line {
  readonly level?: number;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
}

export function journalPriority(json: string): number {
  return PRIORITIES[read(json)?.level ?? 30] ?? 6;
}

/** Each of its lines has the priority: the journal takes them one by one. */
export function journalLine(json: string): string {
  const line = read(json);
  if (line === null) return json;
  const { err, msg = "" } = line;
  const facts = Object.entries(line).filter(([key]) => !UNSAID.has(key));
  const said = facts.map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const why = err === undefined ? "" : `: ${err.stack ?? err.message ?? ""}`;
  const text = `${msg}${said.length === 0 ? "" : ` (${said.join(", ")})`}${why}`;
  return text
    .split("\n")
    .map((part) => `<${journalPriority(json)}>${part}\n`)
    .join("");
}

function read(json: string): Line | null {
  try {
    return JSON.parse(json) as Line;
  } catch {
    return null;
  }
}
