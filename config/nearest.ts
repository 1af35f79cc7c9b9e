// The nearest valid word to a mistyped one: for keys of owl.yaml, services, instances, commands.

/** The candidate with the fewest edits (insert, delete, change, swap), or null when none is near enough to be meant. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  let best: string | null = null;
  let bestCost = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const cost = edits(word.toLowerCase(), candidate.toLowerCase());
    if (cost < bestCost && cost < candidate.length) {
      best = candidate;
      bestCost = cost;
    }
  }
  return best;
}

/** Optimal string alignment distance. */
function edits(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (rows[i - 1]?.[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (rows[i - 1]?.[j - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, (rows[i - 2]?.[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}
