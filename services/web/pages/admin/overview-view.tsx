// Services, connections, workers, queues and turn lengths at one look.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { BackupStatus, ServiceStatus } from "../../../../config/control-api.ts";
import type { System, Updates, Worker } from "../../../core/wire/system.ts";
import { call } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { durationText, sizeText } from "../core/duration.ts";
import { Awaited } from "../parts/awaited.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { languageNow, momentText, numberText, t } from "../text/text.ts";
import { ConnectionsChart } from "./connections-chart.tsx";
import { ApprovalList, RolloutView } from "./rollout-view.tsx";
import { runningRollout } from "./system.ts";
import { TurnsChart } from "./turns-chart.tsx";

/** A status older than this is said to be old. */
const OLD_MS = 15_000;

export function OverviewView(): VNode {
  const { value: system, failed } = useResource<System>("/api/admin/system", { pollMs: 2_000 });
  const { value: update, refresh } = useResource<Updates>("/api/admin/update", { pollMs: 2_000 });
  const [asking, setAsking] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  if (!system) return <Awaited failed={failed} />;
  const { status } = system;
  const open = update?.approvals.filter((item) => item.state === "waiting" || item.state === "running") ?? [];

  const running = runningRollout(status, open);

  async function restart(): Promise<void> {
    setAsking(false);
    setRefused(null);
    try {
      await call("/api/admin/restart", { method: "POST", body: {}, key: browserRandom.uuid() });
      refresh();
    } catch (error) {
      setRefused(failureText(error));
    }
  }

  return (
    <>
      {failed && <Failure text={failed} />}
      <div class="summary">
        <span class={`state state-${status?.state ?? "unknown"}`}>
          {status ? t(`state.${status.state}`) : t("admin.noStatus")}
        </span>
        <span>{t("admin.release", { version: status?.release.version ?? system.release })}</span>
        {status && <span>{t("admin.since", { at: momentText(status.startedAt, useNow(60_000)) })}</span>}
        {system.statusAgeMs !== null && (
          <span class={system.statusAgeMs > OLD_MS ? "bad" : ""}>
            {t("admin.asOf", { age: durationText(system.statusAgeMs, languageNow()) })}
          </span>
        )}
        <button type="button" onClick={() => setAsking(true)} disabled={open.length > 0}>
          {t("admin.restart")}
        </button>
      </div>
      {refused && <Failure text={refused} />}
      {status?.warnings?.map((text) => (
        <p key={text} class="warning">
          {text}
        </p>
      ))}
      {open.length > 0 && <ApprovalList approvals={open} />}
      {running && <RolloutView key={running.id} rollout={running} />}
      {status ? <Services services={status.services} /> : <p class="note">{t("admin.noStatusText")}</p>}
      <div class="cards">
        {status?.connections && (
          <section class="card">
            <h2>{t("admin.connections")}</h2>
            <ConnectionsChart connections={status.connections} />
          </section>
        )}
        <section class="card">
          <h2>{t("admin.turns")}</h2>
          <TurnsChart turns={system.turns} />
        </section>
        <Workers workers={system.workers} />
        <Queues queues={system.queues} />
      </div>
      {status && (
        <section class="card">
          <h2>{t("admin.proxy")}</h2>
          <dl class="figures">
            {(
              [
                ["admin.listen", status.proxy.listen.join(", ")],
                ["admin.requests", numberText(status.proxy.requests)],
                ["admin.inFlight", numberText(status.proxy.inFlight)],
                ["admin.retries", numberText(status.proxy.retries)],
                ["admin.failures", numberText(status.proxy.failures)],
              ] as const
            ).map(([key, value]) => (
              <div key={key}>
                <dt>{t(key)}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {status && <Backups backup={status.backup ?? null} />}
      {asking && (
        <Confirm
          title={t("admin.restartTitle")}
          text={t("admin.restartText")}
          action={t("admin.restart")}
          onClose={() => setAsking(false)}
          onConfirm={() => void restart()}
        />
      )}
    </>
  );
}

function Services({ services }: { readonly services: readonly ServiceStatus[] }): VNode {
  const now = useNow(60_000);
  return (
    <section class="card">
      <h2>{t("admin.services")}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={t("admin.services")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("admin.instance")}</th>
              <th scope="col">{t("admin.state")}</th>
              <th scope="col">{t("admin.started")}</th>
              <th scope="col" class="to-right">
                {t("admin.restarts")}
              </th>
              <th scope="col" class="to-right">
                {t("admin.inFlight")}
              </th>
              <th scope="col" class="to-right">
                {t("admin.memory")}
              </th>
              <th scope="col" class="to-right">
                {t("admin.cpu")}
              </th>
              <th scope="col">{t("admin.lastExit")}</th>
            </tr>
          </thead>
          {services.map((service) => (
            <tbody key={service.name}>
              <tr class="group">
                <th scope="rowgroup" colSpan={8}>
                  {service.name}
                  <span class={service.ready < service.replicas ? "bad" : "soft"}>
                    {t("admin.readyOf", { ready: service.ready, replicas: service.replicas })}
                  </span>
                  {service.crashLooping && <span class="bad">{t("admin.crashLooping")}</span>}
                </th>
              </tr>
              {service.instances.map((instance) => (
                <tr key={instance.id}>
                  <td>{instance.id}</td>
                  <td>
                    <span class={`state state-${instance.state}`}>{t(`instance.${instance.state}`)}</span>
                  </td>
                  <td>{instance.startedAt ? momentText(instance.startedAt, now) : "–"}</td>
                  <td class="to-right">{numberText(instance.restarts)}</td>
                  <td class="to-right">{numberText(instance.inFlight)}</td>
                  <td class="to-right">{sizeText(instance.rssBytes)}</td>
                  <td class="to-right">{Math.round(instance.cpu * 100)} %</td>
                  <td>{exitText(instance.lastExit, now)}</td>
                </tr>
              ))}
            </tbody>
          ))}
        </table>
      </section>
    </section>
  );
}

function exitText(exit: ServiceStatus["instances"][number]["lastExit"], now: number): string {
  if (!exit) return "–";
  if (!exit.known) return t("admin.exitUnknown");
  const how = exit.signal ?? (exit.code === null ? t("admin.neverStarted") : t("admin.exitCode", { code: exit.code }));
  const memory = exit.outOfMemory === "likely" ? ` · ${t("admin.outOfMemory")}` : "";
  return `${how}${memory} · ${momentText(exit.at, now)}`;
}

function Workers({ workers }: { readonly workers: readonly Worker[] }): VNode {
  return (
    <section class="card">
      <h2>{t("admin.workers")}</h2>
      {workers.length === 0 && <p class="bad">{t("admin.noWorkers")}</p>}
      <ul class="rows">
        {workers.map((worker) => {
          const jobs = Object.entries(worker.jobs).filter(([, count]) => count > 0);
          return (
            <li key={worker.id}>
              <span class="grow">{worker.id}</span>
              <span class={`state state-${worker.state}`}>{t(`worker.${worker.state}`)}</span>
              <span class="soft">
                {jobs.length === 0
                  ? t("admin.idle")
                  : jobs.map(([kind, count]) => `${t(`kind.${kind}` as "kind.chat")} ${count}`).join(", ")}
              </span>
              <span class={worker.state === "stalled" ? "bad" : "soft"}>
                {t("admin.heartbeat", { age: durationText(worker.heartbeatAgeMs, languageNow()) })}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Queues({ queues }: { readonly queues: System["queues"] }): VNode {
  // What waits longest comes first: the queue with a problem is the one looked for.
  const sorted = [...queues].sort((left, right) => (right.oldestSeconds ?? -1) - (left.oldestSeconds ?? -1));
  return (
    <section class="card">
      <h2>{t("admin.queues")}</h2>
      <ul class="rows">
        {sorted.map((queue) => (
          <li key={queue.kind}>
            <span class="grow">{t(`kind.${queue.kind}` as "kind.chat")}</span>
            <span>{t("admin.queued", { count: queue.queued })}</span>
            <span>{t("admin.runningJobs", { count: queue.running })}</span>
            <span class="soft">
              {queue.oldestSeconds === null
                ? ""
                : t("admin.oldest", { age: durationText(queue.oldestSeconds * 1000, languageNow()) })}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function standbyText(at: string | null, now: number): string {
  return at === null ? t("admin.standbyUnheard") : t("admin.standbyAt", { at: momentText(at, now) });
}

/** The last backup, and the last restore that was proven. */
function Backups({ backup }: { readonly backup: BackupStatus | null }): VNode {
  const now = useNow(60_000);
  const drill = backup?.drill ?? null;
  const rows: readonly (readonly [string, string])[] =
    backup === null
      ? []
      : [
          [t("admin.backupLast"), backup.last ? momentText(backup.last.at, now) : t("admin.backupNone")],
          ...(backup.standby ? [[t("admin.standby"), standbyText(backup.standby.at, now)] as const] : []),
          [
            t("admin.backupProven"),
            drill === null
              ? t("admin.backupNone")
              : `${momentText(drill.at, now)} ${t(drill.passed ? "admin.drillPassed" : "admin.drillFailed")}`,
          ],
        ];
  return (
    <section class="card">
      <h2>{t("admin.backups")}</h2>
      {backup === null && <p class="note">{t("admin.backupOff")}</p>}
      <dl class="figures">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
