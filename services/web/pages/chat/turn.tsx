// One turn: the question, the tools as they run, the answer as it grows, and how it ended.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { elapsedText } from "../core/duration.ts";
import { hasEnded, type TurnView } from "../core/turn-view.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { failureText } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNow } from "../parts/now.ts";
import { ownWords } from "../text/own-words.ts";
import { languageNow, momentText, numberText, t } from "../text/text.ts";
import { AttachedFiles } from "./attached-files.tsx";
import { stopTurn } from "./conversation.ts";
import { Markdown } from "./markdown.tsx";
import { ToolCallView } from "./tool-call.tsx";

interface TurnProps {
  readonly turn: TurnView;
  readonly isLast: boolean;
  /** Asks the same question again, with its files, as a new turn. */
  readonly onAgain: (turn: TurnView) => void;
  /** Puts the question and its files into the composer. */
  readonly onEdit: (turn: TurnView) => void;
}

export function Turn({ turn, isLast, onAgain, onEdit }: TurnProps): VNode {
  const ended = hasEnded(turn.state);
  return (
    <article class="turn" data-turn={turn.id} data-state={turn.state} aria-busy={!ended}>
      <div class="question">
        <AttachedFiles files={turn.attachments} />
        <p class="bubble">{turn.text}</p>
        <div class="actions">
          <span class="when">{momentText(turn.createdAt, useNow(60_000))}</span>
          <CopyButton text={turn.text} />
          <button type="button" class="link" onClick={() => onEdit(turn)}>
            {t("turn.edit")}
          </button>
        </div>
      </div>
      <div class="answer">
        {turn.tools.map((tool) => (
          <ToolCallView key={tool.id} tool={tool} />
        ))}
        {turn.answer !== "" && <Markdown text={turn.answer} growing={!ended} />}
        {!ended && <Progress turn={turn} />}
        {ended && <Ending turn={turn} isLast={isLast} onAgain={onAgain} />}
      </div>
    </article>
  );
}

function Progress({ turn }: { readonly turn: TurnView }): VNode {
  const now = useNow(1_000);
  const [failed, setFailed] = useState<string | null>(null);
  const elapsed = elapsedText(now - Date.parse(turn.createdAt), languageNow());
  const position = turn.position ?? 0;
  return (
    <div class="progress" role="status">
      <span class="pulse" aria-hidden="true" />
      <span class="what">
        {turn.stopRequested
          ? t("turn.stopping")
          : turn.state === "running"
            ? t("turn.running")
            : position > 0
              ? t("turn.position", { position: numberText(position) })
              : t("turn.queued")}
      </span>
      <span class="elapsed">{elapsed}</span>
      {!turn.stopRequested && (
        <button
          type="button"
          class="stop"
          onClick={() => {
            setFailed(null);
            stopTurn(turn).catch((error: unknown) => setFailed(failureText(error)));
          }}
        >
          <Icon name="stop" />
          {t("turn.stop")}
        </button>
      )}
      {failed && <span class="bad">{failed}</span>}
    </div>
  );
}

function Ending({ turn, isLast, onAgain }: Pick<TurnProps, "turn" | "isLast" | "onAgain">): VNode {
  const again = (
    <button type="button" class={turn.state === "failed" ? "" : "link"} onClick={() => onAgain(turn)}>
      {turn.state === "answered" ? t("turn.again") : t("retry")}
    </button>
  );
  return (
    <>
      {turn.state === "failed" && (
        <div class="failure" role="alert">
          <Icon name="alert" />
          <p>{turn.message === null ? t("turn.failed") : ownWords(turn.message, languageNow())}</p>
          {isLast && again}
        </div>
      )}
      {turn.state === "stopped" && <p class="stopped">{t("turn.stopped")}</p>}
      <div class="actions">
        {turn.answer !== "" && <CopyButton text={turn.answer} />}
        {isLast && turn.state !== "failed" && again}
      </div>
    </>
  );
}
