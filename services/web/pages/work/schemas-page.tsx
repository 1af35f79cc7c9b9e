// Schema analyses: a data source's tables and columns described, as a catalogue to browse and search.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Page } from "../../../core/wire/parts.ts";
import type {
  Analysis,
  AnalysisAccepted,
  AnalysisWithTables,
  DataSourcePage,
  DescribedTable,
} from "../../../core/wire/schema-analysis.ts";
import { call } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { Awaited, BackTo, WorkList } from "../parts/awaited.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { follow, go } from "../routes.ts";
import { momentText, t } from "../text/text.ts";
import { ProgressBar } from "./progress.tsx";

export default function SchemasPage({ id }: { readonly id: string | null }): VNode {
  return id === null ? <Analyses /> : <Catalogue key={id} id={id} />;
}

function Analyses(): VNode {
  const list = useResource<Page<Analysis>>("/api/schema-analyses?limit=50", {
    marks: ["schema-analysis", "schema_analysis"],
  });
  const sources = useResource<DataSourcePage>("/api/data-sources", {
    marks: [],
    pollMs: 60_000,
  });
  const [chosen, setChosen] = useState("");
  const [refused, setRefused] = useState<string | null>(null);
  const now = useNow(30_000);
  const names = sources.value?.items.map((item) => item.name) ?? [];
  const source = chosen || names[0] || "";

  async function analyse(): Promise<void> {
    setRefused(null);
    try {
      const made = await call<AnalysisAccepted>("/api/schema-analyses", {
        method: "POST",
        body: { dataSource: source },
        key: browserRandom.uuid(),
      });
      go(`/schemas/${made.analysisId ?? made.id}`);
    } catch (error) {
      setRefused(failureText(error));
    }
  }

  return (
    <section class="page">
      <header class="page-head">
        <h1>{t("nav.schemas")}</h1>
        <p>{t("schema.what")}</p>
      </header>
      <form
        class="card toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          void analyse();
        }}
      >
        <label>
          {t("schema.source")}
          <select value={source} onChange={(event) => setChosen(event.currentTarget.value)}>
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="primary" disabled={source === ""}>
          {t("schema.analyse")}
        </button>
      </form>
      {refused && <Failure text={refused} />}
      <WorkList
        list={list}
        none={t("schema.none")}
        row={(item) => (
          <li key={item.id} data-state={item.state}>
            <a href={`/schemas/${item.id}`} onClick={follow}>
              {item.dataSource}
            </a>
            <span class={`state state-${item.state}`}>{t(`run.${item.state}`)}</span>
            <span class="soft">
              {item.tablesTotal !== null && `${t("schema.tables", { count: item.tablesTotal })} · `}
              {momentText(item.createdAt, now)}
            </span>
            {item.message && <p class="bad">{item.message}</p>}
          </li>
        )}
      />
    </section>
  );
}

function Catalogue({ id }: { readonly id: string }): VNode {
  const { value, failed, missing, refresh } = useResource<AnalysisWithTables>(`/api/schema-analyses/${id}`, {
    marks: [`schema-analysis:${id}`, `schema_analysis:${id}`],
    pollMs: 2_000,
  });
  const [words, setWords] = useState("");
  const [refused, setRefused] = useState<string | null>(null);
  const now = useNow(30_000);
  if (missing) return <p class="none">{t("schema.missing")}</p>;
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;
  const tables = value.tables ?? [];
  const needle = words.trim().toLowerCase();
  const shown = needle === "" ? tables : tables.filter((table) => searchText(table).includes(needle));
  const isLive = value.endedAt === null;
  const total = value.tablesTotal ?? 0;
  return (
    <section class="page">
      <BackTo href="/schemas" name={t("nav.schemas")} />
      <header class="page-head">
        <h1>{value.dataSource}</h1>
        <span class={`state state-${value.state}`}>
          {isLive && value.stopRequested ? t("turn.stopping") : t(`run.${value.state}`)}
        </span>
        {isLive && !value.stopRequested && (
          <button
            type="button"
            onClick={() => {
              call(`/api/schema-analyses/${id}/stop`, { method: "POST" }).then(refresh, (error: unknown) =>
                setRefused(failureText(error)),
              );
            }}
          >
            {t("turn.stop")}
          </button>
        )}
        <p>{isLive ? t("schema.goesOn") : momentText(value.endedAt ?? value.createdAt, now)}</p>
      </header>
      {refused && <Failure text={refused} />}
      {failed && <Failure text={failed} onRetry={refresh} />}
      {value.message && <Failure text={value.message} />}
      {isLive && <ProgressBar share={total === 0 ? 0 : tables.length / total} />}
      <div class="toolbar">
        <label>
          {t("schema.search")}
          <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <p class="soft">{t("schema.tables", { count: shown.length })}</p>
      </div>
      <div class="catalogue">
        {shown.map((table) => (
          <details key={`${table.schema}.${table.table}`} class="card" open={needle !== "" && shown.length < 6}>
            <summary>
              <strong>
                {table.schema}.{table.table}
              </strong>{" "}
              <span class="soft">{t("schema.columns", { count: table.columns.length })}</span>
              <p>{table.description}</p>
            </summary>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t("schema.column")}</th>
                  <th scope="col">{t("schema.type")}</th>
                  <th scope="col">{t("schema.meaning")}</th>
                </tr>
              </thead>
              <tbody>
                {table.columns.map((column) => (
                  <tr key={column.name}>
                    <td>
                      <code>{column.name}</code>
                    </td>
                    <td>{column.type ?? ""}</td>
                    <td>{column.description ?? ""}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </details>
        ))}
      </div>
    </section>
  );
}

function searchText(table: DescribedTable): string {
  const columns = table.columns.map((column) => `${column.name} ${column.description ?? ""}`);
  return `${table.schema}.${table.table} ${table.description} ${columns.join(" ")}`.toLowerCase();
}
