// What the pages say about an answer and around the question.

import { type Catalogue, type Counted, numberText, type With } from "../../../../config/text.ts";

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
  "model.choice": ["Model", "모델"],
  "limit.budget": (v: With<"limit">) => [
    `Your chats have used this month's budget of ${v.limit}. It begins anew next month; an administrator can raise it.`,
    `이번 달 예산 ${v.limit}을 모두 사용했습니다. 다음 달에 다시 시작되며, 관리자가 늘릴 수 있습니다.`,
  ],
  "usage.tokens": ["Tokens this month", "이번 달 토큰"],
  "usage.cost": ["Cost this month", "이번 달 비용"],
  "usage.unbounded": ["no bound", "제한 없음"],
  "receipt.used": (v: With<"input" | "output" | "cost">) => [
    `Tokens: ${v.input} given, ${v.output} said. Cost: ${v.cost}.`,
    `토큰: 입력 ${v.input}, 출력 ${v.output}. 비용: ${v.cost}.`,
  ],
  "version.writing": ["You are changing an earlier question.", "이전 질문을 수정하고 있습니다."],
  "version.leave": ["Ask it as a new one instead", "새 질문으로 보내기"],
  "version.before": ["Version before", "이전 버전"],
  "version.after": ["Version after", "다음 버전"],
  "version.which": (v: With<"n" | "of">) => [`Version ${v.n} of ${v.of}`, `버전 ${v.n}/${v.of}`],
  "composer.touchHint": ["The arrow sends, Enter begins a new line.", "화살표 버튼으로 보내고, Enter로 줄을 바꿉니다."],
  "composer.pastedLong": (v: Counted & With<"most">) => [
    `The pasted text has ${numberText(v.count)} characters; a question may have ${v.most}.`,
    `붙여넣은 텍스트가 ${numberText(v.count)}자입니다. 질문은 ${v.most}자까지 쓸 수 있습니다.`,
  ],
  "composer.tooLong": (v: Counted & With<"most">) => [
    `This text has ${numberText(v.count)} characters; a question may have ${v.most}.`,
    `이 글은 ${numberText(v.count)}자입니다. 질문은 ${v.most}자까지 쓸 수 있습니다.`,
  ],
  "composer.attachInstead": ["Attach it as a file", "파일로 첨부"],
  "composer.leaveOut": ["Leave it out", "넣지 않기"],
  "composer.pastedName": ["pasted text.txt", "붙여넣은 텍스트.txt"],
  "composer.aside": ["What you were writing was put aside.", "작성하던 내용을 따로 보관해 두었습니다."],
  "composer.bringBack": ["Bring it back", "다시 가져오기"],
  "attach.readAs": (v: With<"encoding">) => [`read as ${v.encoding}`, `${v.encoding}(으)로 읽음`],
  "attach.encoding": [
    "The file is not written in this encoding. Choose another one.",
    "이 인코딩으로 작성된 파일이 아닙니다. 다른 인코딩을 선택해주세요.",
  ],
  "attach.howRead": (v: With<"name">) => [`How ${v.name} is read`, `${v.name}의 문자 인코딩`],
} satisfies Catalogue;
