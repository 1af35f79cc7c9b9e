// What `owlctl schedule` says.

import type { Catalogue } from "../../config/text.ts";

export const scheduleWords = {
  about: ["what the bundled application runs by the clock", "내장 애플리케이션이 정해진 시각에 실행하는 것"],
  list: ["all schedules", "모든 예약"],
  run: ["run it once now, beside its times", "정해진 시각과 별도로 지금 한 번 실행"],
  pause: ["stop its clock", "예약 일시 중지"],
  resume: ["let it go on with its next time", "다음 시각부터 다시 시작"],
  id: ["id of the schedule", "예약 ID"],
  paused: ["paused", "일시 중지"],
  never: ["never", "없음"],
  ran: (id: string) => [`Started: ${id}`, `시작했습니다: ${id}`],
  pausedNow: (name: string) => [`${name} is paused.`, `${name} 예약을 일시 중지했습니다.`],
  resumed: (name: string, at: string) => [
    `${name} goes on; next: ${at}`,
    `${name} 예약을 다시 시작했습니다. 다음: ${at}`,
  ],
  columns: [
    ["ID", "ACCOUNT", "NAME", "LINE", "NEXT", "FAILURES"],
    ["ID", "계정", "이름", "크론 식", "다음", "실패"],
  ],
} satisfies Catalogue;

/** Of services that run by a schedule. */
export const scheduleStatusWords = {
  schedules: ["schedules", "예약 실행"],
  neverDue: ["never again", "다시 없음"],
  due: (at: string) => [`next ${at} UTC`, `다음 ${at} UTC`],
  runs: (id: string, pid: number | null, since: string) => [
    `${id} runs (pid ${pid ?? "-"}, ${since})`,
    `${id} 실행 중(pid ${pid ?? "-"}, ${since})`,
  ],
  runEnds: {
    succeeded: ["succeeded", "성공"],
    failed: ["failed", "실패"],
    lost: ["lost", "결과 모름"],
  },
  ran: (id: string, end: string, how: string, ago: string) => [
    `last ${id} ${end} (${how}) ${ago} ago`,
    `지난 실행 ${id} ${end}(${how}), ${ago} 전`,
  ],
} satisfies Catalogue;
