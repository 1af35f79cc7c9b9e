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
  "transcription.noEngine": "받아쓰기를 할 수 없습니다: {reason} 인식기를 설치하세요: {command}",
  "transcription.noFfmpeg": "이 파일을 읽으려면 ffmpeg가 필요합니다. 설치하세요: sudo apt-get install ffmpeg",
  "transcription.notRecording": "오디오나 동영상 파일이 아닙니다.",
  "transcription.silent": "이 파일에는 소리가 없습니다.",
  "transcription.missing": "파일이 더 이상 없거나 읽을 수 없습니다.",
  "transcription.broken": "녹음 파일이 손상되었습니다: {reason}",
  "transcription.outside": "파일이 더 이상 보관 폴더 안에 있지 않습니다.",
  "transcription.engine": "음성 인식기가 실패했습니다: {reason}",
  "playbook.cut":
    "{step} 단계에서 실행이 중단되었습니다. 끝난 단계는 보존됩니다. 그 단계의 결과를 확인한 뒤 다시 실행해주세요.",
  "playbook.stepFailed": "{step} 단계가 실패했습니다: {reason}",
  "playbook.unknown": "{step} 단계를 시작했으나 결과를 알 수 없습니다: {reason} 결과를 확인한 뒤 다시 실행해주세요.",
  "schemaAnalysis.failed": "분석이 실패했습니다: {reason}",
};
