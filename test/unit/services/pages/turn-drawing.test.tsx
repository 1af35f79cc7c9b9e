// What is drawn again and what is not, and what stands in the place of a turn that cannot be drawn.

import { expect, test } from "vitest";
import { Turn } from "../../../../services/web/pages/chat/turn.tsx";
import { viewOfTurn } from "../../../../services/web/pages/core/turn-view.ts";
import { Boundary } from "../../../../services/web/pages/parts/boundary.tsx";

const turn = viewOfTurn({
  id: "t",
  conversationId: "c",
  state: "answered",
  text: "q",
  answer: "a",
  message: null,
  position: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  endedAt: "2026-01-01T00:00:01.000Z",
});

test("a turn is drawn again when it, its place or the language changed, and not for another turn's words", () => {
  const props = { turn, language: "ko", onAgain: () => undefined, onEdit: () => undefined } as const;
  const drawn = new Turn(props);
  expect(drawn.shouldComponentUpdate({ ...props, onAgain: () => undefined })).toBe(false);
  expect(drawn.shouldComponentUpdate({ ...props, turn: { ...turn, answer: "ab" } })).toBe(true);
  expect(drawn.shouldComponentUpdate({ ...props, language: "en" })).toBe(true);
});

test("what cannot be drawn gives way to its plain words until it changes", () => {
  const at = (of: string) => ({ of, plain: "plain", children: "drawn" });
  const boundary = new Boundary(at("one"));
  boundary.setState = (next) => {
    boundary.state = next as typeof boundary.state;
  };
  expect(boundary.render()).toBe("drawn");
  boundary.componentDidCatch();
  expect(boundary.render()).toBe("plain");
  boundary.props = at("two");
  expect(boundary.render()).toBe("drawn");
});
