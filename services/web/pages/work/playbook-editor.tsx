// Editing a playbook: a form per step by its tool, references to earlier steps, the server's problems at their step.
// Invariant: what is not saved yet is kept in this browser until it is saved or discarded.

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Playbook } from "../../../core/wire/playbook.ts";
import { ApiError } from "../api.ts";
import { browserRandom } from "../browser-time.ts";
import { keep, readKept } from "../kept.ts";
import { Failure, failureText } from "../parts/failure.tsx";
import { type TextKey, t } from "../text/text.ts";

const TOOLS = ["sql", "http", "mail", "ticket"] as const;
type Tool = (typeof TOOLS)[number];

/** lines: a text of several lines; json: anything, written as JSON; names: texts, comma-separated. */
type Kind = "text" | "lines" | "json" | "names" | "number";

const FIELDS: Readonly<Record<Tool, readonly (readonly [string, Kind, boolean])[]>> = {
  sql: [
    ["dataSource", "text", true],
    ["sql", "lines", true],
  ],
  http: [
    ["method", "text", false],
    ["url", "text", true],
    ["headers", "json", false],
    ["body", "json", false],
    ["timeoutSeconds", "number", false],
  ],
  mail: [
    ["to", "names", true],
    ["cc", "names", false],
    ["subject", "text", true],
    ["text", "lines", true],
  ],
  ticket: [
    ["url", "text", true],
    ["title", "text", true],
    ["description", "lines", false],
    ["fields", "json", false],
  ],
};

interface Draft {
  readonly key: string;
  readonly id: string;
  readonly tool: Tool;
  /** As written in the form. */
  readonly fields: Readonly<Record<string, string>>;
  /** Inputs the form has no field for are kept as they are. */
  readonly rest: Readonly<Record<string, unknown>>;
  /** "": by the tool and its method. */
  readonly effect: Effect | "";
  readonly approval: boolean;
}

/** What the form holds. */
interface Work {
  readonly name: string;
  readonly steps: readonly Draft[];
  readonly lost: Playbook["lost"];
}

type Step = Playbook["steps"][number];
type Effect = NonNullable<Step["effect"]>;
type PlaybookBody = Pick<Playbook, "name" | "steps" | "lost">;

const EFFECTS = ["", "read", "idempotent", "write"] as const satisfies readonly (Effect | "")[];
const LOST_RULES = ["resume", "fail"] as const satisfies readonly Playbook["lost"][];

interface Problem {
  readonly step: string | null;
  readonly field: string;
  readonly reason: string;
}

interface EditorProps {
  readonly playbook: Playbook | null;
  readonly onSave: (body: PlaybookBody) => Promise<void>;
}

export function PlaybookEditor({ playbook, onSave }: EditorProps): VNode {
  const place = `playbook.${playbook?.id ?? "new"}`;
  const saved = useMemo(() => workOf(playbook), [playbook?.id]);
  const [work, setWork] = useState<Work>(() => readKept<Work | null>(place, null) ?? saved);
  const [isBack, setBack] = useState(() => readKept<Work | null>(place, null) !== null);
  const { name, steps, lost } = work;
  const put = (part: Partial<Work>): void => {
    const next = { ...work, ...part };
    setWork(next);
    keep(place, JSON.stringify(next) === JSON.stringify(saved) ? null : next);
  };
  const setName = (next: string): void => put({ name: next });
  const setSteps = (next: readonly Draft[]): void => put({ steps: next });
  const setLost = (next: Playbook["lost"]): void => put({ lost: next });
  const discard = (): void => {
    keep(place, null);
    setWork(saved);
    setBack(false);
  };
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [refused, setRefused] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const change = (key: string, part: Partial<Draft>): void =>
    setSteps(steps.map((step) => (step.key === key ? { ...step, ...part } : step)));
  const move = (index: number, by: -1 | 1): void => {
    const next = [...steps];
    const [step] = next.splice(index, 1);
    if (step) next.splice(index + by, 0, step);
    setSteps(next);
  };

  async function save(): Promise<void> {
    setBusy(true);
    setRefused(null);
    setProblems([]);
    try {
      await onSave({ name: name.trim(), steps: steps.map(stepOf), lost });
      keep(place, null);
    } catch (error) {
      if (error instanceof BadField)
        setProblems([{ step: error.step, field: error.field, reason: t("playbook.badJson") }]);
      else {
        const told = error instanceof ApiError ? error.data.problems : null;
        if (Array.isArray(told)) setProblems(told as Problem[]);
        setRefused(failureText(error));
      }
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      class="playbook-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {isBack && (
        <p class="soft" role="status">
          {t("playbook.unsaved")}{" "}
          <button type="button" class="link" onClick={discard}>
            {t("playbook.discard")}
          </button>
        </p>
      )}
      <label>
        {t("playbook.name")}
        <input required maxLength={200} value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <ol class="playbook-steps">
        {steps.map((step, index) => (
          <li key={step.key} class="card">
            <div class="step-head">
              <label>
                {t("playbook.stepId")}
                <input
                  required
                  pattern="[A-Za-z][A-Za-z0-9_\-]*"
                  spellcheck={false}
                  value={step.id}
                  onInput={(event) => change(step.key, { id: event.currentTarget.value })}
                />
              </label>
              <label>
                {t("playbook.tool")}
                <select
                  value={step.tool}
                  onChange={(event) => change(step.key, { tool: event.currentTarget.value as Tool })}
                >
                  {TOOLS.map((tool) => (
                    <option key={tool} value={tool}>
                      {t(`tool.${tool}`)}
                    </option>
                  ))}
                </select>
              </label>
              <div class="actions">
                <button type="button" class="link" disabled={index === 0} onClick={() => move(index, -1)}>
                  {t("playbook.up")}
                </button>
                <button type="button" class="link" disabled={index === steps.length - 1} onClick={() => move(index, 1)}>
                  {t("playbook.down")}
                </button>
                <button
                  type="button"
                  class="link"
                  disabled={steps.length === 1}
                  onClick={() => setSteps(steps.filter((other) => other.key !== step.key))}
                >
                  {t("playbook.removeStep")}
                </button>
              </div>
            </div>
            {FIELDS[step.tool].map(([field, kind, isRequired]) => (
              // biome-ignore lint/a11y/noLabelWithoutControl: Field is the control
              <label key={field}>
                {t(`field.${field}` as TextKey)}
                <Field
                  kind={kind}
                  required={isRequired}
                  value={step.fields[field] ?? ""}
                  onChange={(value) => change(step.key, { fields: { ...step.fields, [field]: value } })}
                />
              </label>
            ))}
            {(step.tool === "http" || step.tool === "ticket") && (
              <label>
                {t("playbook.effect")}
                <select
                  value={step.effect}
                  onChange={(event) => change(step.key, { effect: event.currentTarget.value as Draft["effect"] })}
                >
                  {EFFECTS.map((effect) => (
                    <option key={effect} value={effect}>
                      {t(`playbook.effect.${effect}`)}
                    </option>
                  ))}
                </select>
              </label>
            )}
            <label>
              <input
                type="checkbox"
                checked={step.approval}
                onChange={(event) => change(step.key, { approval: event.currentTarget.checked })}
              />{" "}
              {t("playbook.approval")}
            </label>
            {problems
              .filter((problem) => problem.step === step.id || problem.step === `#${index + 1}`)
              .map((problem) => (
                <p key={`${problem.field} ${problem.reason}`} class="bad">
                  {problem.field}: {problem.reason}
                </p>
              ))}
          </li>
        ))}
      </ol>
      <p class="soft">{t("playbook.references")}</p>
      <label>
        {t("playbook.lost")}
        <select value={lost} onChange={(event) => setLost(event.currentTarget.value as Playbook["lost"])}>
          {LOST_RULES.map((rule) => (
            <option key={rule} value={rule}>
              {t(`playbook.lost.${rule}`)}
            </option>
          ))}
        </select>
      </label>
      {refused && <Failure text={refused} />}
      <div class="actions">
        <button type="button" onClick={() => setSteps([...steps, emptyStep(steps.length + 1)])}>
          {t("playbook.addStep")}
        </button>
        <button type="submit" class="primary" disabled={busy}>
          {t("save")}
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly kind: Kind;
  readonly required: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Field({ kind, required, value, onChange }: FieldProps): VNode {
  if (kind === "lines" || kind === "json") {
    return (
      <textarea
        class={kind === "json" ? "mono" : undefined}
        rows={kind === "json" ? 3 : 4}
        required={required}
        spellcheck={false}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <input
      required={required}
      inputMode={kind === "number" ? "numeric" : undefined}
      spellcheck={false}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

class BadField extends Error {
  readonly step: string;
  readonly field: string;
  constructor(step: string, field: string) {
    super(`${step}.${field}`);
    this.step = step;
    this.field = field;
  }
}

const workOf = (playbook: Playbook | null): Work => ({
  name: playbook?.name ?? "",
  steps: playbook?.steps.map(draftOf) ?? [emptyStep(1)],
  lost: playbook?.lost ?? "resume",
});

function emptyStep(number: number): Draft {
  const fields = { dataSource: "demo" };
  return { key: browserRandom.uuid(), id: `step${number}`, tool: "sql", fields, rest: {}, effect: "", approval: false };
}

function draftOf(step: Step): Draft {
  const tool = TOOLS.find((name) => name === step.tool) ?? "sql";
  const fields: Record<string, string> = {};
  const rest: Record<string, unknown> = { ...step.input };
  for (const [field, kind] of FIELDS[tool]) {
    const value = step.input[field];
    delete rest[field];
    if (value === undefined) continue;
    if (kind === "names") fields[field] = Array.isArray(value) ? value.join(", ") : String(value);
    else fields[field] = typeof value === "string" && kind !== "json" ? value : JSON.stringify(value, null, 2);
  }
  const { effect = "", approval = false } = step;
  return { key: browserRandom.uuid(), id: step.id, tool, fields, rest, effect, approval };
}

function stepOf(step: Draft): Step {
  const approval = step.approval ? { approval: true } : {};
  const made = { id: step.id.trim(), tool: step.tool, input: inputOf(step), ...approval };
  const declares = step.tool === "http" || step.tool === "ticket";
  return declares && step.effect !== "" ? { ...made, effect: step.effect } : made;
}

function inputOf(step: Draft): Record<string, unknown> {
  const input: Record<string, unknown> = { ...step.rest };
  for (const [field, kind] of FIELDS[step.tool]) {
    const text = step.fields[field] ?? "";
    if (text.trim() === "") continue;
    if (kind === "names") {
      const names = text
        .split(",")
        .map((name) => name.trim())
        .filter(Boolean);
      input[field] = names.length === 1 ? names[0] : names;
    } else if (kind === "number") input[field] = Number(text);
    else if (kind === "json") {
      try {
        input[field] = JSON.parse(text);
      } catch {
        throw new BadField(step.id, field);
      }
    } else input[field] = text;
  }
  return input;
}
