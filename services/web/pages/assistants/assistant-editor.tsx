// Writes an assistant.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { CHAT_TOOLS, type ChatTool } from "../../../core/assistant.ts";
import type { Assistant, NewAssistant } from "../../../core/wire/assistant.ts";
import type { Page } from "../../../core/wire/parts.ts";
import { session } from "../account.ts";
import { Failure, failureText } from "../parts/failure.tsx";
import { useResource } from "../resource.ts";
import { useStore } from "../store.ts";
import { a } from "../text/assistant-words.ts";
import { t } from "../text/text.ts";

interface EditorProps {
  /** What it begins with. */
  readonly assistant: Pick<NewAssistant, "name" | "instructions"> & Partial<Assistant>;
  readonly onSave: (body: NewAssistant) => Promise<void>;
}

/** All of them ticked is no bound: what is added later is allowed too. */
const boundOf = <T extends string>(ticked: readonly T[], all: readonly string[]): readonly T[] | null =>
  all.every((name) => (ticked as readonly string[]).includes(name)) ? null : ticked;

export function AssistantEditor({ assistant, onSave }: EditorProps): VNode {
  const now = useStore(session);
  const models = now.state === "signedIn" ? now.account.models : [];
  const [name, setName] = useState(assistant.name);
  const [instructions, setInstructions] = useState(assistant.instructions);
  const [model, setModel] = useState(assistant.model ?? "");
  const [temperature, setTemperature] = useState(assistant.temperature?.toString() ?? "");
  const [tools, setTools] = useState<readonly ChatTool[]>(assistant.tools ?? CHAT_TOOLS);
  /** null: all of them, whichever there are. */
  const [sources, setSources] = useState(assistant.dataSources ?? null);
  const [starters, setStarters] = useState((assistant.starters ?? []).join("\n"));
  const [shared, setShared] = useState(assistant.shared ?? false);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const found = useResource<Page<{ readonly name: string }>>("/api/data-sources", { pollMs: 60_000 });
  const allSources = found.value?.items.map((source) => source.name) ?? [];

  async function save(): Promise<void> {
    setBusy(true);
    setFailed(null);
    const lines = starters.split("\n").map((line) => line.trim());
    try {
      await onSave({
        name: name.trim(),
        instructions,
        model: model === "" ? null : model,
        temperature: temperature === "" ? null : Number(temperature),
        tools: boundOf(tools, CHAT_TOOLS),
        dataSources: sources,
        starters: lines.filter((line) => line !== "").slice(0, 6),
        shared,
      });
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
      <label class="wide">
        {a("name")}
        <input required maxLength={80} value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label class="wide">
        {a("instructions")}
        <textarea
          rows={6}
          maxLength={8_000}
          value={instructions}
          placeholder={a("instructionsHint")}
          onInput={(event) => setInstructions(event.currentTarget.value)}
        />
      </label>
      {models.length > 1 && (
        <label>
          {a("model")}
          <select value={model} onChange={(event) => setModel(event.currentTarget.value)}>
            <option value="">{a("usualModel")}</option>
            {models.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {a("temperature")}
        <input
          type="number"
          min={0}
          max={2}
          step={0.1}
          value={temperature}
          title={a("temperatureHint")}
          onInput={(event) => setTemperature(event.currentTarget.value)}
        />
      </label>
      <Ticks
        legend={a("tools")}
        names={CHAT_TOOLS}
        ticked={tools}
        label={(tool) => a(`tool.${tool}`)}
        onTick={setTools}
      />
      <Ticks
        legend={a("sources")}
        names={allSources}
        ticked={sources ?? allSources}
        label={(source) => source}
        onTick={(ticked) => setSources(boundOf(ticked, allSources))}
      />
      <label class="wide">
        {a("starters")}
        <textarea
          rows={3}
          maxLength={1_900}
          value={starters}
          onInput={(event) => setStarters(event.currentTarget.value)}
        />
      </label>
      <label class="wide check">
        <input type="checkbox" checked={shared} onChange={(event) => setShared(event.currentTarget.checked)} />
        {a("share")}
      </label>
      {failed && <Failure text={failed} />}
      <div class="actions wide">
        <button type="submit" class="primary" disabled={busy || name.trim() === ""}>
          {t("save")}
        </button>
      </div>
    </form>
  );
}

interface TicksProps<T extends string> {
  readonly legend: string;
  readonly names: readonly T[];
  readonly ticked: readonly T[];
  readonly label: (name: T) => string;
  readonly onTick: (ticked: readonly T[]) => void;
}

function Ticks<T extends string>({ legend, names, ticked, label, onTick }: TicksProps<T>): VNode {
  return (
    <fieldset class="ticks">
      <legend>{legend}</legend>
      {names.map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={ticked.includes(name)}
            onChange={(event) =>
              onTick(event.currentTarget.checked ? [...ticked, name] : ticked.filter((one) => one !== name))
            }
          />
          {label(name)}
        </label>
      ))}
    </fieldset>
  );
}
