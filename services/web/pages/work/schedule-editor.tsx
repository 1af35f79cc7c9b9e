// Writes a schedule: what, when, and what of it may be left out. The next times are shown while the line is written.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Page } from "../../../core/wire/parts.ts";
import type { Playbook } from "../../../core/wire/playbook.ts";
import type { NewSchedule, Schedule, SchedulePlan } from "../../../core/wire/schedule.ts";
import { call } from "../api.ts";
import { browserClock } from "../browser-time.ts";
import { conversationList } from "../chat/conversation-list.ts";
import { Failure, failureText } from "../parts/failure.tsx";
import { useResource } from "../resource.ts";
import { useStore } from "../store.ts";
import { languageNow, t } from "../text/text.ts";

interface EditorProps {
  readonly schedule: Schedule | null;
  readonly onSave: (body: NewSchedule) => Promise<void>;
}

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function ScheduleEditor({ schedule, onSave }: EditorProps): VNode {
  const [name, setName] = useState(schedule?.name ?? "");
  const [kind, setKind] = useState<"question" | "playbook">(schedule?.playbookId ? "playbook" : "question");
  const [text, setText] = useState(schedule?.text ?? "");
  const [conversationId, setConversation] = useState(schedule?.conversationId ?? "");
  const [playbookId, setPlaybook] = useState(schedule?.playbookId ?? "");
  const [cron, setCron] = useState(schedule?.cron ?? "0 9 * * 1-5");
  const [zone, setZone] = useState(schedule?.zone ?? ownZone());
  const [missed, setMissed] = useState(schedule?.missed ?? "skip");
  const [overlap, setOverlap] = useState(schedule?.overlap ?? "skip");
  const [jitterS, setJitter] = useState(schedule?.jitterS ?? 0);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const playbooks = useResource<Page<Playbook>>(kind === "playbook" ? "/api/playbooks?limit=200" : null);
  const conversations = useStore(conversationList).items;
  const isKnown = conversationId === "" || conversations.some(({ id }) => id === conversationId);

  async function save(): Promise<void> {
    setBusy(true);
    setFailed(null);
    try {
      const what = kind === "playbook" ? { playbookId } : { text, conversationId: conversationId || null };
      await onSave({ name, cron, zone, ...what, missed, overlap, jitterS });
    } catch (error) {
      setFailed(failureText(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      class="card schedule-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label>
        {t("schedule.name")}
        <input required maxLength={200} value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label>
        {t("schedule.kind")}
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value as "question" | "playbook")}>
          <option value="question">{t("schedule.question")}</option>
          <option value="playbook">{t("schedule.playbook")}</option>
        </select>
      </label>
      {kind === "question" ? (
        <>
          <label class="wide">
            {t("schedule.text")}
            <textarea
              required
              rows={3}
              maxLength={20_000}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <label class="wide">
            {t("schedule.where")}
            <select value={conversationId} onChange={(event) => setConversation(event.currentTarget.value)}>
              <option value="">{t("schedule.newConversation")}</option>
              {!isKnown && <option value={conversationId}>{t("schedule.thisConversation")}</option>}
              {conversations.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title || t("chat.new")}
                </option>
              ))}
            </select>
          </label>
        </>
      ) : (
        <label class="wide">
          {t("schedule.playbook")}
          <select required value={playbookId} onChange={(event) => setPlaybook(event.currentTarget.value)}>
            <option value="" disabled />
            {playbooks.value?.items.map((playbook) => (
              <option key={playbook.id} value={playbook.id}>
                {playbook.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {t("schedule.cron")}
        <input
          required
          maxLength={100}
          spellcheck={false}
          class="mono"
          value={cron}
          onInput={(event) => setCron(event.currentTarget.value)}
        />
      </label>
      <label>
        {t("schedule.zone")}
        <input
          required
          maxLength={64}
          spellcheck={false}
          list="zones"
          value={zone}
          onInput={(event) => setZone(event.currentTarget.value)}
        />
        <datalist id="zones">
          {Intl.supportedValuesOf("timeZone").map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </label>
      <NextTimes cron={cron} zone={zone} />
      <label>
        {t("schedule.missed")}
        <select value={missed} onChange={(event) => setMissed(event.currentTarget.value as "skip" | "once")}>
          <option value="skip">{t("schedule.missedSkip")}</option>
          <option value="once">{t("schedule.missedOnce")}</option>
        </select>
      </label>
      <label>
        {t("schedule.overlap")}
        <select value={overlap} onChange={(event) => setOverlap(event.currentTarget.value as "skip" | "queue")}>
          <option value="skip">{t("schedule.overlapSkip")}</option>
          <option value="queue">{t("schedule.overlapQueue")}</option>
        </select>
      </label>
      <label>
        {t("schedule.jitter")}
        <input
          type="number"
          min={0}
          max={3600}
          value={jitterS}
          onInput={(event) => setJitter(Number(event.currentTarget.value))}
        />
      </label>
      {failed && <Failure text={failed} />}
      <div class="actions wide">
        <button type="submit" class="primary" disabled={busy}>
          {t("save")}
        </button>
      </div>
    </form>
  );
}

/** When the line comes next, in its own zone; or what is wrong with it. */
function NextTimes({ cron, zone }: { readonly cron: string; readonly zone: string }): VNode {
  const [told, setTold] = useState<{ readonly text: string; readonly isBad: boolean } | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const ask = async () => {
      try {
        const body = { cron, zone };
        const { next } = await call<SchedulePlan>("/api/schedules/plan", { method: "POST", body, signal: stop.signal });
        setTold({
          text: t("schedule.comes", {
            times: next
              .slice(0, 3)
              .map((at) => zonedText(at, zone))
              .join(" · "),
          }),
          isBad: false,
        });
      } catch (error) {
        if (!stop.signal.aborted) setTold({ text: failureText(error), isBad: true });
      }
    };
    const cancel = browserClock.after(400, () => void ask());
    return () => {
      cancel();
      stop.abort();
    };
  }, [cron, zone]);
  return (
    <p class={told?.isBad ? "wide bad" : "wide soft"} aria-live="polite">
      {told?.text ?? t("schedule.cronHint")}
    </p>
  );
}

function zonedText(iso: string, zone: string): string {
  const shape = { weekday: "short", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" } as const;
  return new Intl.DateTimeFormat(languageNow(), { ...shape, timeZone: zone }).format(new Date(iso));
}
