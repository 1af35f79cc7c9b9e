// The last lines of an instance's log, followed, searched and downloaded.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { LogTail } from "../../../core/wire/system.ts";
import { Awaited } from "../parts/awaited.tsx";
import { Failure } from "../parts/failure.tsx";
import { saveFile } from "../parts/save-file.ts";
import { useResource } from "../resource.ts";
import { t } from "../text/text.ts";

export function LogsView(): VNode {
  const [instance, setInstance] = useState("");
  const [words, setWords] = useState("");
  const path = `/api/admin/logs?lines=500${instance ? `&instance=${encodeURIComponent(instance)}` : ""}`;
  const { value, failed } = useResource<LogTail>(path, { pollMs: 3_000 });
  if (!value) return <Awaited failed={failed} />;
  const name = value.instance ?? instance;
  const needle = words.toLowerCase();
  const lines = value.lines.filter((line) => line.toLowerCase().includes(needle));
  return (
    <>
      {failed && <Failure text={failed} />}
      <div class="toolbar">
        <label>
          {t("admin.instance")}
          <select value={name} onChange={(event) => setInstance(event.currentTarget.value)}>
            {value.instances.map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t("logs.search")}
          <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <button type="button" onClick={() => saveFile(`${name}.log`, `${lines.join("\n")}\n`, "text/plain")}>
          {t("logs.download")}
        </button>
      </div>
      {value.unreadable ? (
        <div class="card">
          <p>{t("logs.unreadable")}</p>
          <pre>owlctl logs -f {name || "web"}</pre>
        </div>
      ) : (
        <>
          <p class="soft">{t("logs.lines", { count: lines.length })}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <pre class="log" tabIndex={0}>
            {lines.map(shownLine).join("\n")}
          </pre>
        </>
      )}
    </>
  );
}

/** Our own JSON lines as people read them; any other line as it is. */
function shownLine(line: string): string {
  if (!line.startsWith("{")) return line;
  try {
    const { time, level, msg, instance: _instance, ...rest } = JSON.parse(line) as Record<string, unknown>;
    const fields = Object.entries(rest)
      .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join(" ");
    return `${String(time ?? "").slice(11, 23)} ${String(level ?? "")
      .toUpperCase()
      .padEnd(5)} ${String(msg ?? "")} ${fields}`.trim();
  } catch {
    return line;
  }
}
