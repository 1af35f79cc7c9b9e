// What the pages of assistants say; loaded with the first of them.

import { type Catalogue, type Counted, counted, numberText, sayOf, type With } from "../../../../config/text.ts";
import { languageNow } from "./text.ts";

const assistantWords = {
  what: [
    "Who answers, and how: instructions, a model, tools and data sources under one name. Choose one below a chat.",
    "누가 어떻게 답할지 정합니다. 지침, 모델, 도구, 데이터 소스를 하나의 이름으로 저장하고, 대화 입력창 아래에서 선택합니다.",
  ],
  new: ["New assistant", "새 어시스턴트"],
  none: ["No assistants yet.", "아직 어시스턴트가 없습니다."],
  missing: ["This assistant is not here.", "어시스턴트를 찾을 수 없습니다."],
  team: ["Team", "팀 공유"],
  mine: ["Only you", "나만 사용"],
  by: (v: With<"name">) => [`by ${v.name}`, `만든 사람: ${v.name}`],
  copy: ["Copy to change", "복사해서 수정"],
  copyOf: (v: With<"name">) => [`${v.name} (copy)`, `${v.name} (복사본)`],
  notYours: [
    "It is somebody else's: you may use it, and change a copy of it.",
    "다른 사람이 만든 어시스턴트입니다. 그대로 사용하거나, 복사본을 수정할 수 있습니다.",
  ],
  ask: ["Ask it", "질문하기"],
  name: ["Name", "이름"],
  instructions: ["Instructions", "지침"],
  instructionsHint: [
    "What it is told before every question: who it is, how it answers, what it leaves alone.",
    "질문마다 먼저 전달됩니다. 역할, 답변 방식, 하지 말아야 할 것을 적으세요.",
  ],
  model: ["Model", "모델"],
  usualModel: ["The usual one", "기본 모델"],
  temperature: ["Temperature (0 to 2)", "온도 (0~2)"],
  temperatureHint: [
    "Empty: the model's own. Lower is steadier.",
    "비워 두면 모델 기본값입니다. 낮을수록 일정하게 답합니다.",
  ],
  tools: ["Tools", "도구"],
  "tool.list_tables": ["List tables", "테이블 목록"],
  "tool.describe_table": ["Describe a table", "테이블 구조"],
  "tool.run_sql": ["Run SQL", "SQL 실행"],
  "tool.search_transcripts": ["Search your transcripts", "내 녹취록 검색"],
  sources: ["Data sources", "데이터 소스"],
  starters: ["Questions to begin with, one a line (at most 6)", "시작 질문, 한 줄에 하나씩 (최대 6개)"],
  share: ["Everybody here may choose it", "이 서버의 모두에게 공유"],
  deleteTitle: (v: With<"name">) => [`Delete “${v.name}”?`, `“${v.name}”을(를) 삭제할까요?`],
  deleteText: ["Its chats stay and go on without it.", "이 어시스턴트와 나눈 대화는 남고, 어시스턴트 없이 계속됩니다."],
  own: ["Instructions for your chats", "내 모든 대화의 지침"],
  ownHint: [
    "Told to the model before every question of yours, in every chat.",
    "내가 묻는 모든 질문 앞에 모델에게 전달됩니다.",
  ],
  everyone: ["Instructions for everyone", "모든 사람의 지침"],
  everyoneHint: [
    "Told to the model in all chats of this installation, before anything else.",
    "이 서버의 모든 대화에서 가장 먼저 모델에게 전달됩니다.",
  ],
  everyoneTold: ["Set by your administrators:", "관리자가 정한 지침:"],
  saved: ["Saved.", "저장했습니다."],
  dialog: ["Who answers in this chat?", "누가 이 대화에 답할까요?"],
  nobody: ["No assistant", "어시스턴트 없음"],
  chat: ["Instructions for this chat", "이 대화의 지침"],
  manage: ["Assistants and your instructions", "어시스턴트와 내 지침 관리"],
  from: ["From the next question on.", "다음 질문부터 적용됩니다."],
  choose: ["Use", "적용"],
  "prompt.what": [
    "Questions kept for another time. Type / in an empty composer, then their name.",
    "자주 쓰는 질문을 저장합니다. 빈 입력창에서 /를 누르고 이름을 입력하세요.",
  ],
  "prompt.new": ["New prompt", "새 프롬프트"],
  "prompt.none": ["No prompts yet.", "아직 프롬프트가 없습니다."],
  "prompt.missing": ["This prompt is not here.", "프롬프트를 찾을 수 없습니다."],
  "prompt.name": ["Name, typed after /", "이름 (/ 뒤에 입력)"],
  "prompt.nameHint": ["Letters, digits, - and _", "글자, 숫자, -, _"],
  "prompt.text": ["Text", "내용"],
  "prompt.textHint": ["Sales of {{month}} by region, as a table.", "{{월}} 지역별 매출을 표로 보여줘."],
  "prompt.places": (v: With<"names">) => [`Filled in when used: ${v.names}`, `사용할 때 입력: ${v.names}`],
  "prompt.share": ["Everybody here may use it", "이 서버의 모두에게 공유"],
  "prompt.found": (v: Counted) => [counted(v.count, "prompt", "prompts"), `프롬프트 ${numberText(v.count)}개`],
  "prompt.manage": ["Write and change prompts", "프롬프트 관리"],
  "prompt.insert": ["Insert", "넣기"],
} satisfies Catalogue;

export const a = sayOf(assistantWords, languageNow);
