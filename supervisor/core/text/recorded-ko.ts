// owld가 기록에 남기는 말(이벤트, 원인, 이유)의 한국어판. recorded-en.ts와 같은 모양이다.

import type { Recorded } from "./recorded-en.ts";

export const recordedKo: Recorded = {
  reloaded: (notes) =>
    notes.length === 0 ? "설정을 다시 읽었습니다. 달라진 것이 없습니다." : `설정을 다시 읽었습니다. ${notes.join(" ")}`,
  stopped: (service) => `운영자가 ${service}을(를) 멈춥니다.`,
  byOperator: "운영자가 멈춤",
  killedByOperator: "운영자가 강제 종료함",
  nothingToCancel: (rollout) => `${rollout} 교체 작업이 없습니다.`,
  cancelledTooLate: (rollout, state) =>
    `${rollout} 교체 작업은 이미 끝났습니다(${state === "succeeded" ? "성공" : "실패"}).`,
  newerJobs: (count) =>
    `지금 릴리스가 모르는 형식의 작업 ${count}개가 기다립니다. 그중 턴은 대기 한도에 닫히고 나머지는 계속 기다립니다. 그 작업을 접수한 릴리스로 업데이트하세요: owlctl update ARCHIVE`,
};
