// One turn: the question, the tools as they run, the answer as it grows, and how it ended.

import { Component, type VNode } from "preact";
import { useState } from "preact/hooks";
import type { Language } from "../../../../config/language.ts";
import { answerParts } from "../core/answer-parts.ts";
import { elapsedText } from "../core/duration.ts";
import { hasEnded, type TurnView } from "../core/turn-view.ts";
import { AskedStepView } from "../parts/asked-step.tsx";
import { Boundary } from "../parts/boundary.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { failureText } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNow } from "../parts/now.ts";
import { ownWords } from "../text/own-words.ts";
import { languageNow, momentText, numberText, t } from "../text/text.ts";
import { AttachedFiles } from "./attached-files.tsx";
import { readTurn, stopTurn } from "./conversation.ts";
import { Feedback } from "./feedback.tsx";
import { Markdown } from "./markdown.tsx";
import { ReceiptView } from "./receipt.tsx";
import { ToolCallView } from "./tool-call.tsx";
import { Versions } from "./versions.tsx";

interface TurnProps {
  readonly turn: TurnView;
  readonly language: Language;
  /** Asks the same question again, with its files, as another version. */
  readonly onAgain: (turn: TurnView) => void;
  /** Puts the question and its files into the composer. */
  readonly onEdit: (turn: TurnView) => void;
}

/** Drawn again only when it changed: a word of the newest turn costs the others nothing. */
export class Turn extends Component<TurnProps> {
  override shouldComponentUpdate(next: TurnProps): boolean {
    const { turn, language } = this.props;
    return next.turn !== turn || next.language !== language;
  }

  override render(): VNode {
    const { turn, language, onAgain, onEdit } = this.props;
    const ended = hasEnded(turn.state);
    return (
      <article class="turn" data-turn={turn.id} data-state={turn.state} aria-busy={!ended}>
        <div class="question">
          <AttachedFiles files={turn.attachments} />
          <p class="bubble">{turn.text}</p>
          <div class="actions">
            <Versions turn={turn} />
            <When at={turn.createdAt} />
            <CopyButton text={turn.text} />
            <button type="button" class="link" onClick={() => onEdit(turn)}>
              {t("turn.edit")}
            </button>
          </div>
        </div>
        <div class="answer">
          <Boundary of={turn.answer} plain={<PlainAnswer text={turn.answer} />}>
            <Answer turn={turn} language={language} />
          </Boundary>
          {turn.waitsFor.map((step) => (
            <AskedStepView
              key={step.n}
              path={`/api/turns/${turn.id}`}
              step={step}
              onAnswered={() => void readTurn(turn.conversationId, turn.id)}
            />
          ))}
          {!ended && <Progress turn={turn} />}
          {ended && <Ending turn={turn} onAgain={onAgain} />}
        </div>
      </article>
    );
  }
}

function When({ at }: { readonly at: string }): VNode {
  return <span class="when">{momentText(at, useNow(60_000))}</span>;
}

/** What was said and what was run, in their order. Of a turn that did not come to its end, the last text is cut. */
export function Answer({ turn, language }: { readonly turn: TurnView; readonly language: Language }): VNode {
  const parts = answerParts(turn.answer, turn.tools);
  const unfinished = !hasEnded(turn.state) ? "growing" : turn.state === "answered" ? "whole" : "cut";
  return (
    <>
      {parts.map((part, index) =>
        part.kind === "tool" ? (
          <ToolCallView key={part.tool.id} tool={part.tool} />
        ) : (
          <Markdown
            key={index}
            text={part.text}
            growth={index === parts.length - 1 ? unfinished : "whole"}
            name={`${turn.id}-${index}`}
            language={language}
          />
        ),
      )}
    </>
  );
}

export function PlainAnswer({ text }: { readonly text: string }): VNode {
  return (
    <div class="markdown">
      <p class="soft">{t("turn.plain")}</p>
      <p class="raw">{text}</p>
    </div>
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
          : turn.state === "running" || turn.state === "waiting"
            ? t(`turn.${turn.state}`)
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

function Ending({ turn, onAgain }: Pick<TurnProps, "turn" | "onAgain">): VNode {
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
          {again}
        </div>
      )}
      {turn.state === "stopped" && <p class="stopped">{t("turn.stopped")}</p>}
      <div class="actions">
        {turn.answer !== "" && <CopyButton text={turn.answer} />}
        {turn.state !== "failed" && again}
        {turn.answer !== "" && <Feedback turn={turn} />}
      </div>
      <ReceiptView turnId={turn.id} />
    </>
  );
}
