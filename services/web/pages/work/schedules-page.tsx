// Schedules: the list, one of them with its editor and what became of its ticks.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Page } from "../../../core/wire/parts.ts";
import type { Schedule, ScheduleRun, Tick } from "../../../core/wire/schedule.ts";
import { call } from "../api.ts";
import { Awaited, BackTo, WorkList } from "../parts/awaited.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useKeyOf } from "../parts/key-of.ts";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { follow, go } from "../routes.ts";
import { momentText, t } from "../text/text.ts";
import { ScheduleEditor } from "./schedule-editor.tsx";

/** So many failed runs in a row are told. */
const FAILING = 3;

export default function SchedulesPage({ id }: { readonly id: string | null }): VNode {
  if (id === null) return <Schedules />;
  if (id === "new") return <NewSchedule />;
  return <ScheduleView key={id} id={id} />;
}

function Schedules(): VNode {
  const list = useResource<Page<Schedule>>("/api/schedules?limit=200", { marks: ["turn", "playbook"] });
  const now = useNow(30_000);
  return (
    <section class="page">
      <header class="page-head">
        <h1>{t("nav.schedules")}</h1>
        <p>{t("schedule.what")}</p>
      </header>
      <p>
        <a class="button primary" href="/schedules/new" onClick={follow}>
          {t("schedule.new")}
        </a>
      </p>
      <WorkList
        list={list}
        none={t("schedule.none")}
        row={(schedule) => (
          <li key={schedule.id}>
            <a href={`/schedules/${schedule.id}`} onClick={follow}>
              {schedule.name}
            </a>
            <Facts schedule={schedule} now={now} />
          </li>
        )}
      />
    </section>
  );
}

function Facts({ schedule, now }: { readonly schedule: Schedule; readonly now: number }): VNode {
  return (
    <>
      <span class="soft">
        <code>{schedule.cron}</code> {schedule.zone}
      </span>
      {schedule.paused && <span class="state state-paused">{t("schedule.paused")}</span>}
      {schedule.isRunning && <span class="state state-running">{t("schedule.running")}</span>}
      {!schedule.paused && (
        <span class="soft">
          {schedule.nextAt ? t("schedule.next", { when: momentText(schedule.nextAt, now) }) : t("schedule.never")}
        </span>
      )}
      {schedule.failuresInRow >= FAILING && (
        <p class="bad">{t("schedule.failing", { count: schedule.failuresInRow })}</p>
      )}
    </>
  );
}

const Back = (): VNode => <BackTo href="/schedules" name={t("nav.schedules")} />;

function NewSchedule(): VNode {
  const keyOf = useKeyOf();
  return (
    <section class="page">
      <Back />
      <header class="page-head">
        <h1>{t("schedule.new")}</h1>
      </header>
      <ScheduleEditor
        schedule={null}
        onSave={async (body) => {
          const made = await call<Schedule>("/api/schedules", {
            method: "POST",
            body,
            key: keyOf(body),
          });
          go(`/schedules/${made.id}`, "replace");
        }}
      />
    </section>
  );
}

function ScheduleView({ id }: { readonly id: string }): VNode {
  const { value, failed, missing, refresh } = useResource<Schedule>(`/api/schedules/${id}`, { marks: ["turn"] });
  const ticks = useResource<Page<Tick>>(`/api/schedules/${id}/ticks?limit=50`, { marks: ["turn", "playbook"] });
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const now = useNow(30_000);
  if (missing) return <p class="none">{t("schedule.missing")}</p>;
  if (!value) return <Awaited failed={failed} onRetry={refresh} />;

  async function act(work: () => Promise<void>): Promise<void> {
    setRefused(null);
    try {
      await work();
      refresh();
      ticks.refresh();
    } catch (error) {
      setRefused(failureText(error));
    }
  }
  const post = (verb: string) => call<ScheduleRun>(`/api/schedules/${id}/${verb}`, { method: "POST" });
  const verb = value.paused ? "resume" : "pause";

  return (
    <section class="page">
      <Back />
      <header class="page-head">
        <h1>{value.name}</h1>
        <div class="actions">
          <button type="button" class="primary" onClick={() => void act(async () => void (await post("run")))}>
            {t("schedule.run")}
          </button>
          <button type="button" onClick={() => void act(async () => void (await post(verb)))}>
            {t(`schedule.${verb}`)}
          </button>
          <button type="button" onClick={() => setEditing(!editing)}>
            {editing ? t("cancel") : t("turn.edit")}
          </button>
          <button type="button" class="danger" onClick={() => setDeleting(true)}>
            {t("delete")}
          </button>
        </div>
      </header>
      {refused && <Failure text={refused} />}
      {editing ? (
        <ScheduleEditor
          schedule={value}
          onSave={async (body) => {
            await call(`/api/schedules/${id}`, { method: "PUT", body });
            setEditing(false);
            refresh();
          }}
        />
      ) : (
        <>
          <div class="schedule-facts">
            <Facts schedule={value} now={now} />
          </div>
          {value.text !== null && <p class="bubble">{value.text}</p>}
        </>
      )}
      <h2>{t("schedule.history")}</h2>
      <WorkList
        list={ticks}
        none={t("schedule.noTicks")}
        row={(tick) => <TickRow key={tick.tickAt} tick={tick} now={now} />}
      />
      {deleting && (
        <Confirm
          title={t("schedule.deleteTitle", { name: value.name })}
          text={t("schedule.deleteText")}
          action={t("delete")}
          danger
          onClose={() => setDeleting(false)}
          onConfirm={() =>
            void act(async () => {
              setDeleting(false);
              await call(`/api/schedules/${id}`, { method: "DELETE" });
              go("/schedules");
            })
          }
        />
      )}
    </section>
  );
}

const STATES: Readonly<Record<string, "queued" | "running" | "done" | "failed" | "stopped">> = {
  queued: "queued",
  running: "running",
  answered: "done",
  done: "done",
  failed: "failed",
  stopped: "stopped",
};

function TickRow({ tick, now }: { readonly tick: Tick; readonly now: number }): VNode {
  const path =
    tick.conversationId !== null ? `/c/${tick.conversationId}` : tick.runId && `/playbook-runs/${tick.runId}`;
  const state = tick.state === null ? undefined : STATES[tick.state];
  const when = momentText(tick.tickAt, now);
  return (
    <li>
      {path ? (
        <a href={path} onClick={follow}>
          {when}
        </a>
      ) : (
        <span class="grow">{when}</span>
      )}
      {tick.untilAt && <span class="soft">{t("schedule.until", { when: momentText(tick.untilAt, now) })}</span>}
      {tick.byHand && <span class="soft">{t("schedule.byHand")}</span>}
      {state ? (
        <span class={`state state-${state}`}>{t(`run.${state}`)}</span>
      ) : (
        <span class={`state state-${tick.outcome}`}>{t(`tick.${tick.outcome}`)}</span>
      )}
      {tick.reason && <span class="soft">{t(`tick.${tick.reason}`)}</span>}
      {tick.message && <p class="bad">{tick.message}</p>}
    </li>
  );
}
