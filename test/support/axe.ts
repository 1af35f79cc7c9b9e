// axe-core in the page: serious and critical faults as sentences.

import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly help: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** `rule: what is wrong (where)` for each serious or critical fault. */
export async function seriousFaults(page: Page): Promise<readonly string[]> {
  // The page's own policy forbids foreign script, as it should: the debugger's door is not the page's.
  const known = await page.evaluate(() => "axe" in globalThis);
  if (!known) {
    const { readFile } = await import("node:fs/promises");
    await page.evaluate(await readFile(AXE, "utf8"));
  }
  const result = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })",
  )) as AxeResult;
  return result.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")})`);
}
