// What owlctl says of backups, restores and drills.

import type { Catalogue } from "../../config/text.ts";

export const backupWords = {
  backup: {
    about: ["take a backup, or look at those there are", "백업을 만들거나 있는 것을 살펴봄"],
    now: ["take one now and wait for it", "지금 하나를 만들고 끝날 때까지 기다림"],
    list: ["backups of a directory, oldest first", "디렉터리의 백업, 오래된 순"],
    show: ["one backup: version, rows, files (default: the newest)", "백업 하나: 버전, 행 수, 파일(기본: 가장 최근)"],
    verify: [
      "read a backup whole and check every byte (default: the newest)",
      "백업을 끝까지 읽어 모두 확인(기본: 가장 최근)",
    ],
    dir: [
      "the backup directory (default: backup.directory of owl.yaml)",
      "백업 디렉터리(기본: owl.yaml의 backup.directory)",
    ],
    id: ["a backup (2026-11-30T12-35-00Z)", "백업(2026-11-30T12-35-00Z)"],
    passphrase: [
      "file with the passphrase (default: backup.encrypt.passphraseFile of owl.yaml)",
      "암호문 파일(기본: owl.yaml의 backup.encrypt.passphraseFile)",
    ],
    noDirectory: [
      "No directory was named, and owl.yaml names no backup.directory.",
      "디렉터리가 없고 owl.yaml에도 backup.directory가 없습니다.",
    ],
    noDirectoryNext: ["Name one: owlctl backup list /mnt/backup", "지정하십시오: owlctl backup list /mnt/backup"],
    columns: [
      ["BACKUP", "OWL", "POSTGRESQL", "SIZE", "ROWS"],
      ["백업", "OWL", "POSTGRESQL", "크기", "행 수"],
    ],
    logUntil: (at: string) => [`The log reaches ${at}.`, `로그는 ${at}까지 있습니다.`],
    unreadable: (id: string) => [
      `The manifest of ${id} is damaged, or of a newer Owl: it is neither used nor removed.`,
      `${id}의 목록이 손상되었거나 더 새로운 Owl의 것입니다. 쓰지도 지우지도 않습니다.`,
    ],
    none: ["No backup yet.", "아직 백업이 없습니다."],
    verifying: (id: string) => [`Reading ${id}.`, `${id}을(를) 읽습니다.`],
    verified: (id: string) => [`${id} is whole.`, `${id}은(는) 온전합니다.`],
    waiting: [
      "A backup is being taken (Ctrl-C ends the watching only).",
      "백업을 만드는 중입니다(Ctrl-C는 보기만 끝냄).",
    ],
    taken: (id: string, size: string, time: string) => [
      `Backup ${id} is taken and verified: ${size} in ${time}.`,
      `백업 ${id}을(를) 만들어 확인했습니다. ${size}, ${time} 걸림.`,
    ],
    program: (how: string) => [`The backup program failed: ${how}`, `백업 프로그램이 실패했습니다: ${how}`],
    steps: {
      data: ["Laying down the database.", "데이터베이스를 내려놓습니다."],
      log: ["Laying down its log.", "로그를 내려놓습니다."],
      replay: ["PostgreSQL replays the log.", "PostgreSQL이 로그를 다시 실행합니다."],
      uploads: ["Bringing back uploads.", "업로드를 되돌립니다."],
      home: ["State, secrets, configuration.", "상태, 비밀값, 설정을 되돌립니다."],
      probe: [
        "A write is made and waited for in the backup directory.",
        "하나를 쓰고 백업 디렉터리에 올 때까지 기다립니다.",
      ],
      start: ["The restored home is started apart.", "복원한 홈을 따로 시작합니다."],
      check: ["Rows, uploads and a signed-in page are checked.", "행 수, 업로드, 로그인한 페이지를 확인합니다."],
    },
  },
  restore: {
    about: ["a backup into an empty home, without a running owld", "실행 중인 owld 없이 백업을 빈 홈에 복원"],
    dir: ["the backup directory", "백업 디렉터리"],
    at: [
      "the moment to restore (2026-11-30T12:35:00Z; default: the last there is)",
      "복원할 시각(2026-11-30T12:35:00Z; 기본: 마지막)",
    ],
    into: ["another home, beside a running one: a new installation", "실행 중인 홈 옆의 다른 홈에 복원: 새 설치가 됨"],
    plan: ["only show what it would do (exit 10)", "무엇을 할지 보여 주기만 함(종료 코드 10)"],
    badTime: (text: string) => [`${text} is no time.`, `${text}은(는) 시각이 아닙니다.`],
    badTimeNext: [
      "Such as 2026-11-30T12:35:00Z, or with an offset: 2026-11-30T21:35:00+09:00",
      "예: 2026-11-30T12:35:00Z 또는 2026-11-30T21:35:00+09:00",
    ],
    planned: (id: string, version: string, major: number, home: string) => [
      `Backup ${id} (Owl ${version}, PostgreSQL ${major}) into ${home}.`,
      `백업 ${id}(Owl ${version}, PostgreSQL ${major})을(를) ${home}에 복원합니다.`,
    ],
    needs: (size: string) => [`It takes ${size} there.`, `그곳에 ${size}가 필요합니다.`],
    until: (at: string) => [`The last transaction in it is of ${at}.`, `마지막 트랜잭션은 ${at}의 것입니다.`],
    done: (id: string, home: string, time: string) => [
      `Backup ${id} is restored into ${home} in ${time}.`,
      `백업 ${id}을(를) ${home}에 ${time} 만에 복원했습니다.`,
    ],
    uploads: (count: number, missing: number) => [
      `Uploads: ${count} whole${missing === 0 ? "" : `, ${missing} had not arrived in the backup`}.`,
      `업로드: ${count}개 온전${missing === 0 ? "" : `, ${missing}개는 백업에 도착하지 못했음`}.`,
    ],
    configIn: (file: string) => [`owl.yaml is back: ${file}`, `owl.yaml을 되돌렸습니다: ${file}`],
    configBeside: (file: string) => [
      `The owl.yaml it ran by lies in ${file}; yours was left as it is.`,
      `그때의 owl.yaml은 ${file}에 있습니다. 지금 것은 그대로 두었습니다.`,
    ],
    next: [
      "Start it: npm start, or systemctl start owl. Jobs it holds are ended or requeued first; no tool is called again.",
      "시작: npm start 또는 systemctl start owl. 담긴 작업을 먼저 끝내거나 다시 줄 세우며, 도구를 다시 부르지 않습니다.",
    ],
  },
  drill: {
    about: [
      "restore the newest backup into a scratch home, start it apart, check it, throw it away",
      "가장 최근 백업을 임시 홈에 복원해 따로 시작하고 확인한 뒤 버림",
    ],
    passed: (id: string, rto: string) => [
      `Passed: ${id} served a signed-in page ${rto} after nothing was there (RTO).`,
      `통과: ${id}이(가) 빈 상태에서 ${rto} 만에 로그인한 페이지를 보였습니다(RTO).`,
    ],
    rpo: (time: string) => [
      `A write was in the backup directory ${time} after it was made (RPO), and came back.`,
      `쓴 것이 ${time} 만에 백업 디렉터리에 있었고(RPO) 복원되었습니다.`,
    ],
    noRpo: ["RPO was not measured: no owld runs here.", "RPO는 재지 못했습니다. 여기서 owld가 실행 중이 아닙니다."],
    failed: (why: string) => [`Failed: ${why}`, `실패: ${why}`],
    report: (file: string) => [`Its report: ${file}`, `보고서: ${file}`],
  },
} satisfies Catalogue;

/** Of `owlctl status`. */
export const backupStatusWords = {
  backup: ["backup", "백업"],
  backupNone: [
    "none: owl.yaml names no backup.directory (.guide/backup.md says how)",
    "없음: owl.yaml에 backup.directory가 없음(방법은 .guide/backup.md)",
  ],
  backupLast: (ago: string) => [`taken ${ago} ago`, `${ago} 전에 만듦`],
  backupNotYet: ["the first one is still to be taken", "아직 첫 백업을 만들지 않음"],
  backupLog: (ago: string) => [`log ${ago} ago`, `로그 ${ago} 전`],
  standbyAt: (ago: string) => [`standby had all of it ${ago} ago`, `대기 서버는 ${ago} 전까지 따라옴`],
  standbyUnheard: ["standby not heard of", "대기 서버 소식 없음"],
  backupProven: (ago: string, rto: string) => [
    `restored in a drill ${ago} ago (${rto})`,
    `${ago} 전 복원 훈련 통과(${rto})`,
  ],
  backupUnproven: ["never proven by a drill: owlctl drill", "복원 훈련을 한 적이 없음: owlctl drill"],
  backupFailed: (ago: string) => [`the drill ${ago} ago failed`, `${ago} 전 복원 훈련 실패`],
} satisfies Catalogue;
