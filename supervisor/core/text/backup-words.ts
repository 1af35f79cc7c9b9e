// What owld and its backup program say of backups and restores. Pure.

import type { Catalogue } from "../../../config/text.ts";

const TRIED_AGAIN = ["It is tried again by itself.", "저절로 다시 시도합니다."] as const;

export const backupWords = {
  off: () => ({
    sentence: [
      "No backups are made: owl.yaml names no backup.directory.",
      "백업을 하지 않습니다. owl.yaml에 backup.directory가 없습니다.",
    ],
    next: [
      "Name a mounted disk there (backup: {directory: /mnt/backup}), then: owlctl reload",
      "마운트한 디스크를 적고(backup: {directory: /mnt/backup}) 이어서: owlctl reload",
    ],
  }),
  notNow: () => ({
    sentence: ["The backup program is not running at the moment.", "지금은 백업 프로그램이 실행 중이 아닙니다."],
    next: ["Look at: owlctl status. It is started again by itself.", "확인: owlctl status. 저절로 다시 시작합니다."],
  }),
  unmounted: (path: string) => ({
    sentence: [
      `The backup directory ${path} does not carry Owl's mark (owl-backup.json): it is not mounted, or was emptied.`,
      `백업 디렉터리 ${path}에 Owl의 표시(owl-backup.json)가 없습니다. 마운트되지 않았거나 비워졌습니다.`,
    ],
    next: [
      "Mount it; backups go on by themselves. For a new, empty directory, name another path as backup.directory.",
      "마운트하면 백업이 저절로 이어집니다. 새 빈 디렉터리를 쓰려면 backup.directory에 다른 경로를 적으십시오.",
    ],
  }),
  inHome: (path: string) => ({
    sentence: [
      `The backup directory ${path} leads into the home itself, so backups would be lost with it.`,
      `백업 디렉터리 ${path}이(가) 홈 안을 가리켜, 백업도 홈과 함께 잃게 됩니다.`,
    ],
    next: ["Name a place on another disk as backup.directory.", "backup.directory에 다른 디스크의 경로를 적으십시오."],
  }),
  noDirectory: (path: string) => ({
    sentence: [`There is no directory ${path} to keep backups in.`, `백업을 둘 디렉터리 ${path}이(가) 없습니다.`],
    next: [
      "Make it, or mount it, writable for the user owld runs as. It is tried again by itself.",
      "owld를 실행하는 사용자가 쓸 수 있게 만들거나 마운트하십시오. 저절로 다시 시도합니다.",
    ],
  }),
  notEmpty: (path: string) => ({
    sentence: [
      `The backup directory ${path} holds other things and no mark of Owl's.`,
      `백업 디렉터리 ${path}에 Owl의 표시 없이 다른 것이 들어 있습니다.`,
    ],
    next: ["Name an empty directory as backup.directory.", "backup.directory에 빈 디렉터리를 적으십시오."],
  }),
  foreign: (path: string) => ({
    sentence: [
      `The backup directory ${path} belongs to another installation of Owl.`,
      `백업 디렉터리 ${path}은(는) 다른 Owl 설치의 것입니다.`,
    ],
    next: [
      "Give this one a directory of its own: backup.directory in owl.yaml.",
      "이 설치에는 따로 디렉터리를 주십시오: owl.yaml의 backup.directory",
    ],
  }),
  taken: (path: string) => ({
    sentence: [
      `Another home restored from ${path} writes there now, so this one stopped.`,
      `${path}에서 복원한 다른 홈이 지금 그곳에 쓰고 있어, 이 홈은 쓰기를 멈췄습니다.`,
    ],
    next: [
      "Stop this Owl if the other one took its place; else give one of them another backup.directory.",
      "다른 쪽이 자리를 이어받았다면 이 Owl을 멈추고, 아니면 한쪽에 다른 backup.directory를 주십시오.",
    ],
  }),
  replaced: (path: string) => ({
    sentence: [
      `A standby was promoted in this Owl's place, as ${path} says: it runs the jobs now, so this one runs nothing.`,
      `${path}에 따르면 대기 서버가 이 Owl을 이어받았습니다. 작업은 그쪽이 실행하므로 이 Owl은 아무것도 실행하지 않습니다.`,
    ],
    next: [
      "Use the other one. To make this machine its standby: move this home away, then owlctl standby follow",
      "그쪽을 쓰십시오. 이 컴퓨터를 그 대기 서버로 만들려면: 이 홈을 옮긴 뒤 owlctl standby follow",
    ],
  }),
  unsure: (path: string) => ({
    sentence: [
      `A standby follows this Owl, and ${path} cannot be read: it may have been promoted meanwhile.`,
      `이 Owl을 따르는 대기 서버가 있는데 ${path}을(를) 읽을 수 없습니다. 그사이 이어받았을 수 있습니다.`,
    ],
    next: [
      "Mount it and start again; if surely none was promoted, take backup.directory out of owl.yaml first.",
      "마운트한 뒤 다시 시작하십시오. 이어받은 것이 확실히 없다면 owl.yaml에서 backup.directory를 빼고 시작하십시오.",
    ],
  }),
  noStandby: (home: string) => ({
    sentence: [`${home} is no standby's home.`, `${home}은(는) 대기 서버의 홈이 아닙니다.`],
    next: ["Begin one in an empty home: owlctl standby follow DIR", "빈 홈에서 시작: owlctl standby follow DIR"],
  }),
  followed: (home: string) => ({
    sentence: [`Another program works on ${home}.`, `다른 프로그램이 ${home}을(를) 쓰고 있습니다.`],
    next: ["Stop it first: owlctl standby follow, or owld.", "먼저 멈추십시오: owlctl standby follow 또는 owld"],
  }),
  logEnds: (path: string) => ({
    sentence: [
      `The log in ${path} does not lead on from what this standby has.`,
      `${path}의 로그가 이 대기 서버가 가진 것에서 이어지지 않습니다.`,
    ],
    next: ["It begins again from the newest backup.", "가장 새 백업에서 다시 시작합니다."],
  }),
  markUnreadable: (path: string) => ({
    sentence: [
      `The mark owl-backup.json in ${path} cannot be read: it is damaged, or of a newer version of Owl.`,
      `${path}의 owl-backup.json 표시를 읽을 수 없습니다. 손상되었거나 더 새로운 Owl의 것입니다.`,
    ],
    next: ["Use that version, or an intact copy of the directory.", "그 버전이나 온전한 복사본을 쓰십시오."],
  }),
  full: (path: string) => ({
    sentence: [`The backup directory ${path} is full.`, `백업 디렉터리 ${path}이(가) 가득 찼습니다.`],
    next: [
      "Free some space there, or keep fewer backups (backup.keep). It is tried again by itself.",
      "공간을 비우거나 보관하는 백업 수(backup.keep)를 줄이십시오. 저절로 다시 시도합니다.",
    ],
  }),
  readOnly: (path: string) => ({
    sentence: [`The backup directory ${path} cannot be written.`, `백업 디렉터리 ${path}에 쓸 수 없습니다.`],
    next: [
      "Mount it writable, for the user owld runs as. It is tried again by itself.",
      "owld를 실행하는 사용자가 쓸 수 있게 마운트하십시오. 저절로 다시 시도합니다.",
    ],
  }),
  unreadable: (path: string) => ({
    sentence: [`${path} cannot be read by this user.`, `이 사용자는 ${path}을(를) 읽을 수 없습니다.`],
    next: [
      "Run it as the user who wrote the backups, or as root, or give this one the right to read (chown -R).",
      "백업을 쓴 사용자나 root로 실행하거나, 이 사용자에게 읽을 권한을 주십시오(chown -R).",
    ],
  }),
  breaksOff: (path: string, until: string) => ({
    sentence: [
      `A piece of the log in ${path} is missing: it breaks off at ${until}, and goes on behind that.`,
      `${path}의 로그 한 조각이 없습니다. ${until}에서 끊기고 그 뒤로 이어집니다.`,
    ],
    next: [
      `Bring the whole directory here, or restore what was before: --at ${until}`,
      `디렉터리를 온전히 가져오거나, 그 전까지만 복원하십시오: --at ${until}`,
    ],
  }),
  io: (path: string, code: string) => ({
    sentence: [`The backup directory ${path} fails (${code}).`, `백업 디렉터리 ${path}에 오류가 있습니다(${code}).`],
    next: TRIED_AGAIN,
  }),
  noneThere: (path: string) => ({
    sentence: [`There is no backup of Owl's in ${path}.`, `${path}에 Owl의 백업이 없습니다.`],
    next: [
      "Is it mounted? Name the directory that holds owl-backup.json.",
      "마운트했습니까? owl-backup.json이 있는 디렉터리를 지정하십시오.",
    ],
  }),
  noneYet: (path: string) => ({
    sentence: [`${path} holds no finished backup yet.`, `${path}에 아직 끝난 백업이 없습니다.`],
    next: ["Make one: owlctl backup --now", "지금 만들기: owlctl backup --now"],
  }),
  noneBefore: (at: string, oldest: string) => ({
    sentence: [
      `No backup had ended by ${at}; the oldest one ended at ${oldest}.`,
      `${at}까지 끝난 백업이 없습니다. 가장 오래된 것은 ${oldest}에 끝났습니다.`,
    ],
    next: ["Choose a later time: owlctl backup list", "더 늦은 시각을 고르십시오: owlctl backup list"],
  }),
  unknownBackup: (id: string) => ({
    sentence: [`There is no backup ${id}.`, `${id}이라는 백업이 없습니다.`],
    next: ["See them: owlctl backup list", "목록 보기: owlctl backup list"],
  }),
  noKey: () => ({
    sentence: ["The backups are sealed, and no passphrase was given.", "백업이 암호화되어 있는데 암호문이 없습니다."],
    next: [
      "Name its file: --passphrase-file FILE, or backup.encrypt.passphraseFile in owl.yaml.",
      "암호문 파일을 지정하십시오: --passphrase-file FILE, 또는 owl.yaml의 backup.encrypt.passphraseFile",
    ],
  }),
  wrongKey: () => ({
    sentence: ["This passphrase does not open these backups.", "이 암호문으로는 이 백업을 열 수 없습니다."],
    next: ["Name the file with the one they were sealed with.", "백업을 암호화할 때 쓴 암호문의 파일을 지정하십시오."],
  }),
  notSealed: () => ({
    sentence: [
      "The directory was begun without encryption, so it cannot go on with it.",
      "이 디렉터리는 암호화 없이 시작했으므로 암호화로 이어갈 수 없습니다.",
    ],
    next: [
      "Name an empty directory as backup.directory, or leave backup.encrypt out.",
      "backup.directory에 빈 디렉터리를 적거나 backup.encrypt를 빼십시오.",
    ],
  }),
  noPassphrase: (file: string) => ({
    sentence: [
      `The passphrase file ${file} cannot be read, or holds fewer than 16 characters.`,
      `암호문 파일 ${file}을(를) 읽을 수 없거나 16자보다 짧습니다.`,
    ],
    next: [
      `Make one: openssl rand -base64 24 > ${file} && chmod 600 ${file}, and keep a copy elsewhere.`,
      `만들기: openssl rand -base64 24 > ${file} && chmod 600 ${file}. 복사본을 다른 곳에도 두십시오.`,
    ],
  }),
  damaged: (file: string) => ({
    sentence: [`${file} is damaged: it is not what was written.`, `${file}이(가) 손상되었습니다. 쓴 것과 다릅니다.`],
    next: [
      "Look at that disk. Restore up to a moment before (--at TIME), or an older backup (--backup ID).",
      "그 디스크를 살펴보십시오. 그 전의 시각까지(--at TIME) 또는 더 오래된 백업을(--backup ID) 복원하십시오.",
    ],
  }),
  missing: (file: string) => ({
    sentence: [`${file} is missing.`, `${file}이(가) 없습니다.`],
    next: [
      "Restore up to a moment before (--at TIME), or an older backup (--backup ID).",
      "그 전의 시각까지(--at TIME) 또는 더 오래된 백업을(--backup ID) 복원하십시오.",
    ],
  }),
  clockBehind: (newest: string) => ({
    sentence: [
      `The clock of this machine is behind the newest backup (${newest}), so no new one is made.`,
      `이 컴퓨터의 시계가 가장 새로운 백업(${newest})보다 늦어 새 백업을 만들지 않습니다.`,
    ],
    next: [
      "Set the clock (timedatectl). It is tried again by itself.",
      "시계를 맞추십시오(timedatectl). 저절로 다시 시도합니다.",
    ],
  }),
  logGap: () => ({
    sentence: [
      "PostgreSQL no longer has the log since the last piece in the backup directory: a new backup is made at once.",
      "백업 디렉터리의 마지막 조각 뒤의 로그가 PostgreSQL에 더는 없습니다. 새 백업을 바로 만듭니다.",
    ],
    next: TRIED_AGAIN,
  }),
  oldServer: (version: string) => ({
    sentence: [
      `Backups need PostgreSQL 15 or newer; this one is ${version}.`,
      `백업에는 PostgreSQL 15 이상이 필요합니다. 지금은 ${version}입니다.`,
    ],
    next: [
      "Back it up by pg_basebackup, or move to a newer one.",
      "pg_basebackup으로 백업하거나 새 버전으로 옮기십시오.",
    ],
  }),
  external: () => ({
    sentence: [
      "database.url names a PostgreSQL of your own: backing it up is yours, and Owl's backup does not run.",
      "database.url이 직접 운영하는 PostgreSQL을 가리킵니다. 그 백업은 운영자의 몫이며 Owl의 백업은 실행되지 않습니다.",
    ],
    next: [
      "Back up that database with its own tools, and from OWL_HOME: uploads/, state/; and owl.yaml.",
      "그 데이터베이스는 자체 도구로 백업하고, OWL_HOME의 uploads/, state/와 owl.yaml도 함께 백업하십시오.",
    ],
  }),
  command: (name: string, how: string) => ({
    sentence: [`backup.command (${name}) failed: ${how}.`, `backup.command(${name})가 실패했습니다: ${how}.`],
    next: [
      "The backup itself is in the directory. It runs again after the next one.",
      "백업 자체는 디렉터리에 있습니다. 다음 백업 뒤에 다시 실행합니다.",
    ],
  }),
  drillRuns: () => ({
    sentence: ["Another drill is running in this home.", "이 홈에서 다른 훈련이 실행 중입니다."],
    next: ["Wait for its end, then look at: owlctl status", "끝나기를 기다린 뒤 확인: owlctl status"],
  }),
  noProbe: (seconds: number) => ({
    sentence: [
      `A write of now was not in the backup directory within ${seconds} s.`,
      `방금 쓴 것이 ${seconds}초 안에 백업 디렉터리에 오지 않았습니다.`,
    ],
    next: ["See what is in the way: owlctl status", "무엇이 막고 있는지 보기: owlctl status"],
  }),
  notUp: (why: string) => ({
    sentence: [`The restored home did not come up: ${why}.`, `복원한 홈이 올라오지 못했습니다: ${why}.`],
    next: [
      "Look at what it says; the backup itself was readable.",
      "위의 이유를 보십시오. 백업 자체는 읽을 수 있었습니다.",
    ],
  }),
  page: (what: string, status: number) => ({
    sentence: [`The restored home answered ${what} with ${status}.`, `복원한 홈이 ${what}에 ${status}로 답했습니다.`],
    next: ["Look at its version and this code's.", "그 버전과 이 코드의 버전을 살펴보십시오."],
  }),
  uploadsMissing: (ids: string) => ({
    sentence: [`Files of uploads are missing in the backup: ${ids}.`, `백업에 업로드 파일이 없습니다: ${ids}.`],
    next: ["Are they in OWL_HOME/uploads, readable for owld?", "OWL_HOME/uploads에 있고 owld가 읽을 수 있습니까?"],
  }),
  uploadsUnread: (ids: readonly string[]) => {
    const first = ids.slice(0, 3).join(", ");
    return {
      sentence: [
        `Files of ${ids.length} uploads cannot be read and are in no backup: ${first}${ids.length > 3 ? " ..." : ""}.`,
        `업로드 파일 ${ids.length}개를 읽을 수 없어 백업에 없습니다: ${first}${ids.length > 3 ? " ..." : ""}.`,
      ],
      next: [
        "Let owld read them (chmod -R g+rX OWL_HOME/uploads, and its group). It is tried again by itself.",
        "owld가 읽을 수 있게 하십시오(chmod -R g+rX OWL_HOME/uploads, 그리고 그룹). 저절로 다시 시도합니다.",
      ],
    };
  },
  differs: (table: string, found: number, wanted: number) => ({
    sentence: [
      `The restored table ${table} has ${found} rows, the running one ${wanted}.`,
      `복원한 테이블 ${table}에는 행이 ${found}개이고, 실행 중인 것에는 ${wanted}개입니다.`,
    ],
    next: [
      "Run the drill again; if it stays so, take a new backup: owlctl backup --now",
      "훈련을 다시 해 보고, 그대로면 새 백업을 만드십시오: owlctl backup --now",
    ],
  }),
  restoring: (home: string) => ({
    sentence: [`Another restore into ${home} is running.`, `${home}(으)로 다른 복원이 실행 중입니다.`],
    next: ["Let it end, or restore elsewhere: --into DIR", "끝나기를 기다리거나 다른 곳에 복원하십시오: --into DIR"],
  }),
  homeForeign: (home: string, name: string) => ({
    sentence: [
      `${home} is no empty home: it holds ${name}, which is not Owl's.`,
      `${home}은(는) 빈 홈이 아닙니다. Owl의 것이 아닌 ${name}이(가) 있습니다.`,
    ],
    next: [
      "Restore into a directory that is empty or not there yet.",
      "비어 있거나 아직 없는 디렉터리에 복원하십시오.",
    ],
  }),
  homeInUse: (home: string) => ({
    sentence: [
      `${home} is no empty home: Owl has run there.`,
      `${home}은(는) 빈 홈이 아닙니다. Owl이 실행된 적이 있습니다.`,
    ],
    next: [
      "Restore into another one (--into DIR), or move this one away first.",
      "다른 곳에 복원하거나(--into DIR) 먼저 이 홈을 옮기십시오.",
    ],
  }),
  noSpace: (home: string, needed: string, free: string) => ({
    sentence: [
      `The restore needs ${needed} in ${home}, where ${free} are free.`,
      `복원에는 ${home}에 ${needed}가 필요하지만 ${free}만 비어 있습니다.`,
    ],
    next: ["Free some space, or restore elsewhere: --into DIR", "공간을 비우거나 다른 곳에 복원하십시오: --into DIR"],
  }),
  newerMigrations: (version: string, names: string) => ({
    sentence: [
      `The backup was made by Owl ${version}, whose migrations (${names}) this code does not know.`,
      `이 백업은 Owl ${version}이 만들었고, 그 마이그레이션(${names})을 이 코드가 모릅니다.`,
    ],
    next: [`Restore with Owl ${version} or newer.`, `Owl ${version} 이상으로 복원하십시오.`],
  }),
  gap: (at: string) => ({
    sentence: [
      `The log in the backup directory has a gap at ${at}, before this backup's own end.`,
      `백업 디렉터리의 로그가 이 백업이 끝나기 전 ${at}에서 끊겨 있습니다.`,
    ],
    next: [
      "Restore an older backup (owlctl backup list, restore --backup ID).",
      "더 오래된 백업을 복원하십시오(owlctl backup list, restore --backup ID).",
    ],
  }),
} satisfies Catalogue;
