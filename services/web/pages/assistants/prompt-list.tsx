// What the composer offers after a slash: prompts by name, chosen by arrows and Enter while the focus stays in the field,
// their places filled in by a small form. Loaded with the first slash.

import type { RefObject, VNode } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import type { Prompt, Prompts } from "../../../core/wire/prompt.ts";
import { call } from "../api.ts";
import { filledIn, named, placesOf } from "../core/prompt.ts";
import { Dialog } from "../parts/dialog.tsx";
import { failureText } from "../parts/failure.tsx";
import { useResource } from "../resource.ts";
import { follow } from "../routes.ts";
import { a } from "../text/assistant-words.ts";
import { t } from "../text/text.ts";

/** Takes a key of the field first; true: it was ours. */
export type Keys = (event: KeyboardEvent) => boolean;

interface PromptListProps {
  /** What stands after the slash. */
  readonly typed: string;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly keys: RefObject<Keys | null>;
  /** The text that takes the command's place. */
  readonly onTake: (text: string) => void;
}

export function PromptList({ typed, field, keys, onTake }: PromptListProps): VNode | null {
  const { value, failed } = useResource<Prompts>("/api/prompts", { pollMs: 60_000 });
  const [at, setAt] = useState(0);
  const [isLeft, setLeft] = useState(false);
  const [taken, setTaken] = useState<Prompt | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const listId = useId();
  const offers = named(value?.items ?? [], typed);
  const chosen = offers[Math.min(at, offers.length - 1)] ?? null;
  const isOpen = !isLeft && taken === null && value !== null && (offers.length > 0 || typed === "");

  useEffect(() => {
    setAt(0);
    setLeft(false);
  }, [typed]);

  useEffect(() => {
    const element = field.current;
    if (!element || !isOpen) return;
    element.setAttribute("aria-controls", listId);
    element.setAttribute("aria-autocomplete", "list");
    if (chosen) element.setAttribute("aria-activedescendant", `${listId}-${chosen.id}`);
    document.getElementById(`${listId}-${chosen?.id}`)?.scrollIntoView({ block: "nearest" });
    return () => {
      for (const name of ["aria-controls", "aria-autocomplete", "aria-activedescendant"]) element.removeAttribute(name);
    };
  }, [isOpen, chosen?.id]);

  useEffect(() => {
    keys.current = (event) => {
      if (!isOpen || event.isComposing) return false;
      if (event.key === "Escape") setLeft(true);
      else if (!chosen) return false;
      else if (event.key === "ArrowDown") setAt((now) => (Math.min(now, offers.length - 1) + 1) % offers.length);
      else if (event.key === "ArrowUp") setAt((now) => (Math.max(now, 0) + offers.length - 1) % offers.length);
      else if (event.key === "Enter" || event.key === "Tab") take(chosen.id);
      else return false;
      event.preventDefault();
      return true;
    };
    return () => {
      keys.current = null;
    };
  });

  function take(id: string): void {
    setRefused(null);
    call<Prompt>(`/api/prompts/${id}`).then(
      (prompt) => {
        if (placesOf(prompt.text).length > 0) setTaken(prompt);
        else use(prompt.text);
      },
      (error: unknown) => setRefused(failureText(error)),
    );
  }

  function use(text: string): void {
    setTaken(null);
    onTake(text);
    field.current?.focus();
  }

  if (taken !== null) return <FillIn prompt={taken} onUse={use} onClose={() => setTaken(null)} />;
  if (!isOpen) return failed ? <p class="bad">{failed}</p> : null;
  return (
    <div class="commands">
      <div role="listbox" id={listId} aria-label={t("nav.prompts")} tabIndex={-1}>
        {offers.map(({ id, name, beginning }) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          <div
            key={id}
            id={`${listId}-${id}`}
            class="option"
            role="option"
            tabIndex={-1}
            aria-selected={id === chosen?.id}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(id)}
          >
            <strong>/{name}</strong> <span class="soft">{beginning}</span>
          </div>
        ))}
      </div>
      <p class="soft">
        <span role="status">{refused ?? a("prompt.found", { count: offers.length })}</span>{" "}
        <a href="/prompts" onClick={follow}>
          {a("prompt.manage")}
        </a>
      </p>
    </div>
  );
}

interface FillInProps {
  readonly prompt: Prompt;
  readonly onUse: (text: string) => void;
  readonly onClose: () => void;
}

function FillIn({ prompt, onUse, onClose }: FillInProps): VNode {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  return (
    <Dialog title={`/${prompt.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onUse(filledIn(prompt.text, values));
        }}
      >
        {placesOf(prompt.text).map((name) => (
          <label key={name}>
            {name}
            <input
              required
              maxLength={2_000}
              value={values[name] ?? ""}
              onInput={(event) => {
                const { value } = event.currentTarget;
                setValues((now) => ({ ...now, [name]: value }));
              }}
            />
          </label>
        ))}
        <footer>
          <button type="button" onClick={onClose}>
            {t("cancel")}
          </button>
          <button type="submit" class="primary">
            {a("prompt.insert")}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
