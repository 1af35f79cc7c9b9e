import { expect, test } from "vitest";
import { textOf } from "../../../../services/text/text.ts";
import { attachmentHeader } from "../../../../services/web/conversation-export.ts";
import { headMarkdown, turnMarkdown } from "../../../../services/web/conversation-markdown.ts";
import { viewOfTurn } from "../../../../services/web/pages/core/turn-view.ts";

test("an exported conversation holds questions, statements and answers, whatever they contain", () => {
  const turn = viewOfTurn({
    id: "t",
    conversationId: "c",
    state: "failed",
    text: "how many?",
    answer: "some",
    message: "cut",
    position: null,
    createdAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T00:00:09.000Z",
    tools: [
      { id: "0", name: "thinking", thought: "hm", state: "done" },
      { id: "1", name: "run_sql", input: { sql: "SELECT '```'" }, state: "done" },
    ],
    attachments: [
      { id: "f", name: "sales_*.csv", bytes: 2048 },
      { id: "g", name: "a`b.txt", bytes: 3 },
    ],
  });
  const text = headMarkdown("Title\nof it") + turnMarkdown(turn, textOf("en"));
  expect(text).toContain("# Title of it\n\n## Question · 2026-01-01T00:00:00.000Z\n\nhow many?");
  expect(text).toContain(
    "how many?\n\nAttached files:\n\n- `sales_*.csv` (2.0 KiB)\n- ``` a`b.txt ``` (3 B)\n\n### Tool",
  );
  expect(text).toContain("````\nSELECT '```'\n````");
  expect(text).toContain("some\n\n> cut\n");
  expect(text).not.toContain("thinking");
  expect(turnMarkdown({ ...turn, state: "stopped", message: null }, textOf("ko"))).toContain("> 중지했습니다.");
  const attachments = [{ id: "h", name: "` ".repeat(200_000), bytes: 1 }];
  expect(turnMarkdown({ ...turn, attachments }, textOf("en"))).toContain("- ``` ` ` `");
});

test("an exported file is named after its conversation, in any script, and by nothing that ends the header", () => {
  expect(attachmentHeader('매출 "x"\r\n', "md")).toBe(
    "attachment; filename=\"conversation.md\"; filename*=UTF-8''%EB%A7%A4%EC%B6%9C%20x.md",
  );
  expect(attachmentHeader("/../..", "json")).toContain("UTF-8''conversation.json");
});
