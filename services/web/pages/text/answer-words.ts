// What the pages say about an answer and around the question.

import type { Catalogue, With } from "../../../../config/text.ts";

export const answerWords = {
  "note.see": (v: With<"label">) => [`Footnote ${v.label}`, `각주 ${v.label}`],
  "table.copy": ["Copy table", "표 복사"],
  "table.chart": ["Chart", "차트"],
  "table.noChart": ["Hide chart", "차트 숨기기"],
  "chart.label": (v: With<"values" | "by">) => [
    `Chart of ${v.values} by ${v.by}; the table below holds the figures.`,
    `${v.by}별 ${v.values} 차트. 아래 표에 같은 값이 있습니다.`,
  ],
  "chart.failed": ["The chart could not be loaded.", "차트를 불러오지 못했습니다."],
  "turn.plain": [
    "This turn cannot be laid out; here is its text as it is.",
    "이 답변은 서식을 적용할 수 없어 원문 그대로 보여드립니다.",
  ],
} satisfies Catalogue;
