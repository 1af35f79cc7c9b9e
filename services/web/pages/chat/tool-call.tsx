// A tool call: what is run, for how long, what came of it. Open while it runs, folded afterwards. What the model thought
// aloud is told alike, and is folded from the beginning.

import type { VNode } from "preact";
import { durationText } from "../core/duration.ts";
import type { ToolCall } from "../core/turn-view.ts";
import { Icon } from "../parts/icon.tsx";
import { languageNow, t } from "../text/text.ts";
import { CodeBlock } from "./code-block.tsx";
import { DataTable } from "./data-table.tsx";

export function ToolCallView({ tool }: { readonly tool: ToolCall }): VNode {
  const busy = tool.state === "running";
  if (tool.thought !== null) return <Thought text={tool.thought} busy={busy} />;
  const facts = [
    tool.rows === null ? null : t("table.rows", { count: tool.rows }),
    tool.ms === null ? null : durationText(tool.ms, languageNow()),
  ].filter(Boolean);
  return (
    <details class="tool" data-state={tool.state} open={busy}>
      <summary>
        <Icon name={tool.state === "failed" ? "alert" : "tool"} />
        <span class="name">{tool.name}</span>
        <span class="first-line">{tool.input.replace(/\s+/g, " ").slice(0, 120)}</span>
        <span class="facts">{busy ? t("tool.running") : facts.join(" · ") || t(`tool.${tool.state}`)}</span>
      </summary>
      {tool.input !== "" && <CodeBlock code={tool.input} language={isSql(tool.input) ? "sql" : ""} />}
      {tool.table && (
        <DataTable
          head={tool.table.columns}
          rows={tool.table.rows.map((row) => row.map((cell) => (cell === null ? "" : String(cell))))}
          name={tool.name}
        />
      )}
      {tool.error && <p class="bad">{tool.error}</p>}
    </details>
  );
}

function Thought({ text, busy }: { readonly text: string; readonly busy: boolean }): VNode {
  return (
    <details class="tool thought" data-state={busy ? "running" : "done"}>
      <summary>
        <span class="name">{t("tool.thought")}</span>
        <span class="first-line">{text.replace(/\s+/g, " ").slice(0, 120)}</span>
        <span class="facts">{t(busy ? "tool.thinking" : "tool.done")}</span>
      </summary>
      <p>{text}</p>
    </details>
  );
}

const isSql = (text: string): boolean => /^\s*(?:select|with|explain|show|table|values)\b/i.test(text);
