// What a model thinks aloud, apart from what it answers: `<think>…</think>` at the beginning of its text, the tags cut in
// any places. Pure. Invariants: a tag later in the text is text (an answer may speak of it); linear cost.

const OPEN = "<think>";
const CLOSE = "</think>";

interface Said {
  readonly thought: string;
  readonly text: string;
}

interface ThinkTags {
  /** What of the text so far is sure to be one or the other. */
  push(delta: string): Said;
  /** What was held back. */
  end(): Said;
}

export function createThinkTags(): ThinkTags {
  let state: "start" | "thought" | "text" = "start";
  let held = "";
  /** White space before anything else: looked at once, however much of it comes. */
  let blank = "";
  let hasThought = false;

  function push(delta: string): Said {
    let thought = "";
    held += delta;
    for (;;) {
      if (state === "start") {
        const begun = held.trimStart();
        if (begun === "") {
          blank += held;
          held = "";
          return { thought, text: "" };
        }
        if (begun.length < OPEN.length && OPEN.startsWith(begun)) return { thought, text: "" };
        state = begun.startsWith(OPEN) ? "thought" : "text";
        if (state === "thought") held = begun.slice(OPEN.length);
        // The empty lines between a thought and its answer belong to neither.
        else held = hasThought ? begun : blank + held;
        blank = "";
      } else if (state === "thought") {
        hasThought = true;
        const at = held.indexOf(CLOSE);
        const sure = at === -1 ? held.length - beginningAtEnd(held) : at;
        thought += held.slice(0, sure);
        held = held.slice(at === -1 ? sure : at + CLOSE.length);
        if (at === -1) return { thought, text: "" };
        state = "start";
      } else {
        const text = held;
        held = "";
        return { thought, text };
      }
    }
  }

  return {
    push,
    end() {
      const rest = blank + held;
      held = "";
      blank = "";
      if (state === "thought") return { thought: rest, text: "" };
      return { thought: "", text: hasThought ? rest.trimStart() : rest };
    },
  };
}

/** How many of the last characters may be the beginning of the closing tag. */
function beginningAtEnd(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--) {
    if (CLOSE.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
