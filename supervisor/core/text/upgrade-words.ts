// What is said of an upgrade of PostgreSQL that cannot be. Pure.

import type { Catalogue } from "../../../config/text.ts";

const UNTOUCHED = [
  "The database is as it was: start Owl again, look into it, then try again.",
  "데이터베이스는 그대로입니다. Owl을 다시 시작하고 원인을 살핀 뒤 다시 시도하십시오.",
] as const;

export const upgradeWords = {
  running: () => ({
    sentence: ["owld runs on this home.", "이 홈에서 owld가 실행 중입니다."],
    next: [
      "Stop it first: systemctl stop owl, or Ctrl-C where npm start runs. Turns end by their grace, waiting jobs wait.",
      "먼저 멈추십시오: systemctl stop owl, 또는 npm start 터미널에서 Ctrl-C. 진행 중인 것은 유예 시간 안에 끝나고 대기 작업은 기다립니다.",
    ],
  }),
  external: () => ({
    sentence: [
      "database.url names a PostgreSQL of your own: upgrading it is yours.",
      "database.url이 직접 운영하는 PostgreSQL을 가리킵니다. 그 업그레이드는 운영자의 몫입니다.",
    ],
    next: [
      "Stop Owl, upgrade it by PostgreSQL's own documentation, start Owl.",
      "Owl을 멈추고 PostgreSQL 문서대로 업그레이드한 뒤 다시 시작하십시오.",
    ],
  }),
  owner: (home: string, uid: number) => ({
    sentence: [
      `${home} belongs to the user ${uid}, so root does not write there.`,
      `${home}은(는) 사용자 ${uid}의 것이므로 root로 쓰지 않습니다.`,
    ],
    next: [
      `As that user: sudo -u '#${uid}' env OWL_HOME=${home} owlctl postgres upgrade`,
      `그 사용자로: sudo -u '#${uid}' env OWL_HOME=${home} owlctl postgres upgrade`,
    ],
  }),
  none: (home: string) => ({
    sentence: [`There is no database of Owl's own in ${home}.`, `${home}에 Owl이 관리하는 데이터베이스가 없습니다.`],
    next: ["Set OWL_HOME to the home that is meant.", "OWL_HOME에 해당 홈을 지정하십시오."],
  }),
  configured: (binaries: string) => ({
    sentence: [
      `postgres.binaries in owl.yaml (${binaries}) names no newer version than the data has.`,
      `owl.yaml의 postgres.binaries(${binaries})가 데이터보다 새로운 버전이 아닙니다.`,
    ],
    next: [
      "Name the newer bin directory there, or take the line out.",
      "더 새로운 bin 디렉터리를 적거나 그 줄을 지우십시오.",
    ],
  }),
  nothingNewer: (major: number, wanted: number | null, found: string) => ({
    sentence: [
      `The data is of PostgreSQL ${major}, and no programs of ${wanted ?? "a newer version"} were found (found: ${found}).`,
      `데이터는 PostgreSQL ${major}의 것인데 ${wanted ?? "더 새로운 버전"}의 프로그램이 없습니다(있는 것: ${found}).`,
    ],
    next: [
      `Install it (apt-get install postgresql-${wanted ?? major + 1}), or name its bin directory as postgres.binaries.`,
      `설치하거나(apt-get install postgresql-${wanted ?? major + 1}) postgres.binaries에 bin 디렉터리를 적으십시오.`,
    ],
  }),
  noOld: (major: number) => ({
    sentence: [
      `The data is of PostgreSQL ${major}, whose own programs are needed once more and were not found.`,
      `데이터는 PostgreSQL ${major}의 것이고, 그 프로그램이 한 번 더 필요하지만 없습니다.`,
    ],
    next: [`Install it beside: apt-get install postgresql-${major}`, `함께 설치: apt-get install postgresql-${major}`],
  }),
  noDump: (major: number) => ({
    sentence: [
      `Neither pg_upgrade for both versions nor a pg_dump of ${major} or newer was found.`,
      `두 버전의 pg_upgrade도, ${major} 이상의 pg_dump도 없습니다.`,
    ],
    next: [
      `Install the client programs (apt-get install postgresql-client, of version ${major} or newer), then again.`,
      `클라이언트 프로그램(apt-get install postgresql-client, ${major} 이상)을 설치한 뒤 다시 하십시오.`,
    ],
  }),
  noSpace: (dir: string, needed: string, free: string) => ({
    sentence: [
      `The upgrade needs ${needed} in ${dir}, where ${free} are free.`,
      `업그레이드에는 ${dir}에 ${needed}가 필요하지만 ${free}만 비어 있습니다.`,
    ],
    next: ["Free some space there.", "그곳의 공간을 비우십시오."],
  }),
  failed: (program: string, said: string) => ({
    sentence: [`${program} failed: ${said}.`, `${program}이(가) 실패했습니다: ${said}.`],
    next: UNTOUCHED,
  }),
  differs: (table: string, before: number, after: number) => ({
    sentence: [
      `The new database has ${after} rows in ${table}, the old one ${before}.`,
      `새 데이터베이스의 ${table}에는 행이 ${after}개이고, 이전 것에는 ${before}개입니다.`,
    ],
    next: UNTOUCHED,
  }),
  noFormer: () => ({
    sentence: ["No former cluster is kept here.", "보관된 이전 클러스터가 없습니다."],
    next: [
      "It is kept until the next update has proven itself; before that moment lie the backups: owlctl backup list",
      "다음 업데이트가 확인될 때까지만 보관합니다. 그 전의 것은 백업에 있습니다: owlctl backup list",
    ],
  }),
} satisfies Catalogue;
