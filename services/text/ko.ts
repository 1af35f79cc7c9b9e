// Korean text of the bundled application. turn.cut and turn.unclaimed are agreed word for word.

import type { Catalogue } from "./text.ts";

export const ko: Catalogue = {
  "turn.cut": "서버 작업이 중단되어 답변하지 못했습니다. 잠시 후 다시 시도해주세요.",
  "turn.unclaimed": "서버가 요청을 제때 받지 못해 답변하지 못했습니다. 잠시 후 다시 시도해주세요.",
  "turn.limit": "답변이 제한 시간({minutes}분)을 넘겨 중단했습니다. 질문을 나누어 다시 시도해주세요.",
  "turn.error": "답변 중 오류가 발생했습니다. 다시 시도해주세요.",
  "transcription.lost": "이 녹음을 처리하던 작업이 여러 번 중단되었습니다. 파일을 확인한 뒤 다시 시도해주세요.",
  "playbook.lost":
    "실행 중 작업이 중단되었습니다. 끝난 단계는 보존됩니다. 결과를 알 수 없는 단계를 확인한 뒤 다시 실행해주세요.",
  "schemaAnalysis.lost": "분석 중 작업이 중단되었습니다. 다시 분석해주세요.",
  "job.error": "오류가 발생했습니다: {reason}",
};
