// What is said around feedback, beyond its two buttons; loaded with it.

import { type Catalogue, sayOf } from "../../../../config/text.ts";
import { languageNow } from "./text.ts";

const feedbackWords = {
  note: ["What was good or wrong? (optional)", "어떤 점이 좋았거나 잘못되었나요? (선택)"],
  seen: [
    "Administrators can read this question, its answer and your sentence.",
    "관리자가 이 질문과 답변, 남긴 의견을 볼 수 있습니다.",
  ],
  send: ["Send", "보내기"],
  what: [
    "Answers people gave feedback on. Other questions and answers are not shown here.",
    "사람들이 의견을 남긴 답변입니다. 다른 질문과 답변은 보이지 않습니다.",
  ],
  none: ["No feedback yet.", "아직 의견이 없습니다."],
  all: ["All", "전체"],
  good: ["Good", "좋음"],
  bad: ["Bad", "나쁨"],
  noted: ["With a sentence", "의견 있음"],
  which: ["Which", "표시할 항목"],
  question: ["Question", "질문"],
  answer: ["Answer", "답변"],
  open: ["Open the chat", "대화 열기"],
} satisfies Catalogue;

export const f = sayOf(feedbackWords, languageNow);
