// Conversations by the day of their last activity, as the reader's own calendar has it. Invariant: the order stays.

interface DateGroup<T> {
  /** A span near today, or the year and month behind it: `2026-08`. */
  readonly key: "today" | "yesterday" | "week" | "month" | `${number}-${string}`;
  readonly items: readonly T[];
}

/** Splits what is sorted newest first; a time that is still to come belongs to today. */
export function groupByDate<T extends { readonly updatedAt: string }>(
  items: readonly T[],
  nowMs: number,
): readonly DateGroup<T>[] {
  const now = new Date(nowMs);
  const dayStartMs = (daysBack: number): number =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBack).getTime();
  const spans = [
    ["today", dayStartMs(0)],
    ["yesterday", dayStartMs(1)],
    ["week", dayStartMs(7)],
    ["month", dayStartMs(30)],
  ] as const;
  const groups = new Map<DateGroup<T>["key"], T[]>();
  for (const item of items) {
    const at = new Date(item.updatedAt);
    const [span] = spans.find(([, fromMs]) => at.getTime() >= fromMs) ?? [];
    const key = span ?? (`${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}` as const);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups].map(([key, grouped]) => ({ key, items: grouped }));
}
