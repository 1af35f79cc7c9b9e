// What owlctl says of the managed PostgreSQL's upgrade, and of a standby.

import type { Catalogue } from "../../config/text.ts";

export const postgresWords = {
  postgres: {
    about: ["the database Owl runs itself", "Owl이 직접 실행하는 데이터베이스"],
    upgrade: [
      "into the next major version of PostgreSQL, while owld is stopped",
      "owld가 멈춘 동안 PostgreSQL의 다음 주 버전으로 올림",
    ],
    to: ["the major version (default: the newest one installed)", "주 버전(기본: 설치된 것 중 가장 새것)"],
    plan: ["only show what it would do (exit 10)", "무엇을 할지 보여 주기만 함(종료 코드 10)"],
    back: [
      "put the former cluster back; the present one is kept in its stead",
      "이전 클러스터로 되돌림(지금 것은 그 자리에 보관)",
    ],
    badMajor: (text: string) => [
      `${text} is no major version, such as 18.`,
      `${text}은(는) 18 같은 주 버전이 아닙니다.`,
    ],
    ways: {
      pg_upgrade: ["pg_upgrade, copying", "pg_upgrade(복사)"],
      dump: ["dump and restore", "덤프와 복원"],
    },
    planned: (from: string, to: string, way: string) => [
      `PostgreSQL ${from} to ${to} by ${way}. Pages answer nothing until Owl is started again.`,
      `PostgreSQL ${from}에서 ${to}(으)로, 방법: ${way}. Owl을 다시 시작할 때까지 페이지가 응답하지 않습니다.`,
    ],
    needs: (data: string, needed: string, time: string) => [
      `The data is ${data}; it takes ${needed} beside it and about ${time}.`,
      `데이터는 ${data}입니다. 그 옆에 ${needed}와 약 ${time}이 필요합니다.`,
    ],
    wayBack: (former: string) => [
      `The old cluster stays in ${former} until the next update has proven itself; back to it: owlctl postgres upgrade --back`,
      `이전 클러스터는 다음 업데이트가 확인될 때까지 ${former}에 남습니다. 되돌리기: owlctl postgres upgrade --back`,
    ],
    done: (from: string, to: string, time: string) => [
      `PostgreSQL ${from} is ${to} now, in ${time}; every table has the rows it had.`,
      `PostgreSQL ${from}을(를) ${time} 만에 ${to}(으)로 올렸습니다. 모든 테이블의 행 수가 같습니다.`,
    ],
    next: [
      "Start Owl: npm start, or systemctl start owl. With backups on, a new one is taken at once.",
      "시작: npm start 또는 systemctl start owl. 백업을 쓰면 새 백업을 바로 만듭니다.",
    ],
    wentBack: (from: number, to: number, former: string) => [
      `PostgreSQL ${to} is back, as it was before the upgrade; that of ${from}, with all written since, lies in ${former}.`,
      `PostgreSQL ${to}이(가) 업그레이드 전 그대로 돌아왔습니다. 그 뒤에 쓴 것이 든 ${from}은(는) ${former}에 있습니다.`,
    ],
    steps: {
      old: ["The old server starts apart.", "이전 서버를 따로 시작합니다."],
      dump: ["Its databases are dumped.", "데이터베이스를 덤프합니다."],
      new: ["The new cluster is made.", "새 클러스터를 만듭니다."],
      load: ["The dumps are read into it.", "덤프를 읽어 들입니다."],
      compare: ["Statistics are made, rows compared.", "통계를 만들고 행 수를 비교합니다."],
      swap: ["The two change places.", "둘의 자리를 바꿉니다."],
    },
  },
  standby: {
    about: [
      "a second machine that follows this Owl and can take its place",
      "이 Owl을 따르다가 자리를 이어받을 수 있는 두 번째 컴퓨터",
    ],
    follow: [
      "fill an empty home from the backup directory and follow its log, until ended",
      "빈 홈을 백업 디렉터리에서 채우고 끝낼 때까지 그 로그를 따름",
    ],
    status: ["how far it has followed", "어디까지 따라왔는지"],
    promote: [
      "let it take over: the other one is shut out, the home is made whole",
      "자리를 이어받음: 다른 쪽을 막고 홈을 완성함",
    ],
    following: [
      "Following. Ctrl-C ends it; it goes on from there the next time.",
      "따르는 중입니다. Ctrl-C로 끝내면 다음에 거기서 이어집니다.",
    ],
    fence: [
      "The other Owl is shut out by the mark in the backup directory.",
      "백업 디렉터리의 표시로 다른 Owl을 막습니다.",
    ],
    ended: ["Ended. The home stays a standby.", "끝났습니다. 홈은 대기 서버로 남습니다."],
    standing: (home: string, directory: string, following: boolean) => [
      `${home} follows ${directory}${following ? "" : ", but no owlctl standby follow runs"}.`,
      `${home}은(는) ${directory}을(를) 따릅니다${following ? "" : "만 owlctl standby follow가 실행 중이 아닙니다"}.`,
    ],
    log: (at: string) => [`Its log is laid down up to ${at}.`, `로그는 ${at}까지 내려놓았습니다.`],
  },
} satisfies Catalogue;
