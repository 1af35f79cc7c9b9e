// What owld says of releases of a team's own code: why it refuses one, and what it writes down of a deploy. Pure.

import type { Catalogue } from "../../../config/text.ts";

const AGAIN = ["Deploy again when it is resolved.", "해결한 뒤 다시 배포하십시오."] as const;

export const refusedDeploys = {
  bundled: (service: string) => ({
    sentence: [
      `${service} is part of Owl: there is no code of your own to deploy.`,
      `${service}은(는) Owl의 일부라서 배포할 자체 코드가 없습니다.`,
    ],
    next: ["Owl itself is updated with: owlctl update ARCHIVE", "Owl 자체의 업데이트: owlctl update ARCHIVE"],
  }),
  absolute: (service: string, cwd: string) => ({
    sentence: [
      `services.${service}.cwd is ${cwd} whatever is deployed, so a release would change nothing.`,
      `services.${service}.cwd가 무엇을 배포하든 ${cwd}이므로 릴리스가 아무것도 바꾸지 않습니다.`,
    ],
    next: [
      "Give `source:` the folder of the code and `cwd:` relative to it, then: owlctl reload",
      "`source:`에 코드의 폴더를, `cwd:`에 그 안의 상대 경로를 적은 뒤: owlctl reload",
    ],
  }),
  unreadable: (path: string, why: string) => ({
    sentence: [`${path} cannot be read by owld: ${why}.`, `owld가 ${path}을(를) 읽을 수 없습니다: ${why}.`],
    next: [
      "Name a directory, an archive (tar, gzip or zstd) or a git ref that owld's own user may read.",
      "owld의 사용자가 읽을 수 있는 디렉터리, 아카이브(tar, gzip, zstd), git ref를 지정하십시오.",
    ],
  }),
  damaged: (path: string, why: string) => ({
    sentence: [`The archive ${path} is damaged or cut off: ${why}.`, `아카이브 ${path}이(가) 손상되었습니다: ${why}.`],
    next: ["Make it again and compare its size.", "다시 만들어 크기를 비교하십시오."],
  }),
  holds: (path: string, what: string) => ({
    sentence: [`It holds ${JSON.stringify(path)}, ${what}.`, `${JSON.stringify(path)}이(가) 들어 있습니다: ${what}.`],
    next: AGAIN,
  }),
  notPlain: ["which is neither a file, a directory nor a link", "파일도 디렉터리도 링크도 아님"],
  twice: ["which comes twice", "두 번 나옴"],
  linkOut: (target: string) => [
    `which links to ${JSON.stringify(target)}, out of the release`,
    `릴리스 밖을 가리키는 링크 ${JSON.stringify(target)}`,
  ],
  tooLarge: (limit: string) => ({
    sentence: [
      `The release would be over ${limit}, the most deploy.size allows.`,
      `릴리스가 deploy.size의 한도 ${limit}를 넘습니다.`,
    ],
    next: [
      "Leave out what the service does not need, or raise deploy.size in owl.yaml.",
      "서비스에 필요 없는 것을 빼거나 owl.yaml의 deploy.size를 늘리십시오.",
    ],
  }),
  tooMany: (most: number) => ({
    sentence: [`The release would hold over ${most} files.`, `릴리스의 파일이 ${most}개를 넘습니다.`],
    next: ["Leave out what the service does not need.", "서비스에 필요 없는 것을 빼십시오."],
  }),
  empty: (path: string) => ({
    sentence: [`There is nothing in ${path}.`, `${path}이(가) 비어 있습니다.`],
    next: AGAIN,
  }),
  cannotStart: (found: string) => ({
    sentence: [
      `${found} in what was given. Nothing was changed.`,
      `주어진 코드에서 ${found}. 아무것도 바꾸지 않았습니다.`,
    ],
    next: AGAIN,
  }),
  noGit: () => ({
    sentence: ["The program git is not installed here.", "이 기계에 git이 설치되어 있지 않습니다."],
    next: [
      "Install it (apt install git), or deploy the directory or an archive of it.",
      "설치하거나(apt install git) 디렉터리나 아카이브로 배포하십시오.",
    ],
  }),
  git: (ref: string, directory: string, why: string) => ({
    sentence: [
      `git does not give ${ref} of ${directory}: ${why}`,
      `git이 ${directory}의 ${ref}을(를) 내주지 않습니다: ${why}`,
    ],
    next: [
      "Name a commit, branch or tag of that checkout, or an existing directory or archive.",
      "그 체크아웃의 커밋, 브랜치, 태그나 있는 디렉터리, 아카이브를 지정하십시오.",
    ],
  }),
  diskFull: () => ({
    sentence: ["The disk is full while the release is copied.", "릴리스를 복사하는 중에 디스크가 찼습니다."],
    next: ["Free some space, or keep fewer with deploy.keep.", "공간을 비우거나 deploy.keep을 줄이십시오."],
  }),
  noRelease: (id: string, known: string) => ({
    sentence: [`There is no release ${id} here.`, `릴리스 ${id}은(는) 없습니다.`],
    next: [
      known === "" ? "Nothing was deployed yet: owlctl deploy" : `There are: ${known} (owlctl releases)`,
      known === "" ? "아직 배포된 것이 없습니다: owlctl deploy" : `있는 것: ${known} (owlctl releases)`,
    ],
  }),
  notDeployed: (service: string) => ({
    sentence: [
      `${service} runs from its source: it was never deployed, so there is no way back.`,
      `${service}은(는) 배포된 적 없이 소스에서 실행되므로 되돌릴 곳이 없습니다.`,
    ],
    next: ["See what lies here: owlctl releases", "있는 릴리스 보기: owlctl releases"],
  }),
  same: (services: string) => ({
    sentence: [
      `Nothing to do: ${services} run(s) from that release already.`,
      `할 일이 없습니다. ${services}은(는) 이미 그 릴리스에서 실행됩니다.`,
    ],
    next: ["See what lies here: owlctl releases", "있는 릴리스 보기: owlctl releases"],
  }),
  changed: (id: string) => ({
    sentence: [
      `Release ${id} was changed on the disk after it was made.`,
      `릴리스 ${id}이(가) 만들어진 뒤 디스크에서 바뀌었습니다.`,
    ],
    next: ["Deploy its source again instead.", "대신 그 소스를 다시 배포하십시오."],
  }),
} satisfies Catalogue;

export const recordedDeploys = {
  copies: (from: string, id: string) => [
    `${from} is copied into release ${id}.`,
    `${from}을(를) 릴리스 ${id}(으)로 복사합니다.`,
  ],
  makes: (from: string) => [`A new release is made of ${from}.`, `${from}(으)로 새 릴리스를 만듭니다.`],
  copied: (id: string, files: number, size: string, hash: string) => [
    `Release ${id} is whole: ${files} files, ${size}, sha256 ${hash}.`,
    `릴리스 ${id}이(가) 완성되었습니다: 파일 ${files}개, ${size}, sha256 ${hash}.`,
  ],
  ran: (command: string, seconds: number) => [`${command}: done in ${seconds} s.`, `${command}: ${seconds}초에 완료.`],
  beforeFailed: (command: string, how: string) => [
    `\`${command}\` failed (${how}), so nothing was changed.`,
    `\`${command}\`이(가) 실패하여(${how}) 아무것도 바꾸지 않았습니다.`,
  ],
  beforeLate: (command: string, seconds: number) => [
    `\`${command}\` was not done within ${seconds} s (deploy.beforeTimeout) and was killed; nothing was changed.`,
    `\`${command}\`이(가) ${seconds}초(deploy.beforeTimeout) 안에 끝나지 않아 중단했습니다. 아무것도 바꾸지 않았습니다.`,
  ],
  notStarted: (command: string, why: string) => [
    `\`${command}\` could not be started: ${why} Nothing was changed.`,
    `\`${command}\`을(를) 시작할 수 없습니다: ${why} 아무것도 바꾸지 않았습니다.`,
  ],
  cut: [
    "owld ended before the new release was whole; nothing was changed. Deploy again.",
    "새 릴리스가 완성되기 전에 owld가 끝났습니다. 바뀐 것은 없습니다. 다시 배포하십시오.",
  ],
  cancelled: ["It was cancelled before anything was changed.", "무엇이든 바뀌기 전에 취소되었습니다."],
  replaces: (services: string, id: string) => [`${services}: release ${id}.`, `${services}: 릴리스 ${id}.`],
  toSource: (services: string) => [
    `${services}: from the source again, no release.`,
    `${services}: 릴리스 없이 다시 소스에서 실행.`,
  ],
  shares: (percent: number, seconds: number) => [
    `The new release gets ${percent} % of the clients first, for ${seconds} s.`,
    `새 릴리스가 먼저 ${seconds}초 동안 클라이언트의 ${percent}%를 받습니다.`,
  ],
  removed: (ids: string) => [`Releases removed: ${ids}.`, `지운 릴리스: ${ids}.`],
  runsBefore: (count: number) => [
    `${count} command(s) of \`before\` run in it first; a failure changes nothing.`,
    `먼저 \`before\` 명령 ${count}개를 그 안에서 실행하며, 실패하면 아무것도 바꾸지 않습니다.`,
  ],
} satisfies Catalogue;

export const refusedRuns = {
  bundled: (service: string) => ({
    sentence: [
      `${service} is part of Owl: programs are run in your own services only.`,
      `${service}은(는) Owl의 일부입니다. 자체 서비스에서만 프로그램을 실행할 수 있습니다.`,
    ],
    next: ["Look at it: owlctl status, owlctl logs", "확인: owlctl status, owlctl logs"],
  }),
  noneReady: (service: string) => ({
    sentence: [`No instance of ${service} is ready.`, `준비된 ${service} 인스턴스가 없습니다.`],
    next: [`Beside them: owlctl run ${service} -- COMMAND`, `따로 실행: owlctl run ${service} -- 명령`],
  }),
  tooMany: (most: number) => ({
    sentence: [`${most} programs run already.`, `이미 프로그램 ${most}개가 실행 중입니다.`],
    next: ["Wait until one has ended.", "하나가 끝날 때까지 기다리십시오."],
  }),
  goesOn: (service: string, id: string) => ({
    sentence: [`${service} runs already (${id}).`, `${service}이(가) 이미 실행 중입니다(${id}).`],
    next: [
      `Look at it: owlctl logs ${id} -f; end it: owlctl stop ${id}`,
      `확인: owlctl logs ${id} -f, 끝내기: owlctl stop ${id}`,
    ],
  }),
  noCommand: (service: string) => ({
    sentence: [
      `${service} has no schedule: name the program to run in its environment.`,
      `${service}에는 schedule이 없습니다. 그 환경에서 실행할 프로그램을 지정하십시오.`,
    ],
    next: [`owlctl run ${service} -- COMMAND`, `owlctl run ${service} -- 명령`],
  }),
  timed: (service: string) => ({
    sentence: [
      `${service} keeps no instance (it runs by its schedule, or has files alone): there is nothing to replace or to scale.`,
      `${service}은(는) 인스턴스를 두지 않습니다(일정에 따라 실행되거나 파일만 제공). 교체하거나 개수를 바꿀 것이 없습니다.`,
    ],
    next: ["Look at it: owlctl status", "확인: owlctl status"],
  }),
} satisfies Catalogue;

export const recordedSchedules = {
  started: (id: string, tick: string) => [
    `${id} is started, due at ${tick} UTC.`,
    `${id}을(를) 시작합니다(예정 ${tick} UTC).`,
  ],
  startedByHand: (id: string) => [`${id} is started by hand.`, `${id}을(를) 수동으로 시작합니다.`],
  succeeded: (id: string, how: string) => [`${id} has ended (${how}).`, `${id}이(가) 끝났습니다(${how}).`],
  failed: (id: string, how: string) => [`${id} has failed: ${how}`, `${id}이(가) 실패했습니다: ${how}`],
  lost: (id: string, how: string) => [
    `${id} ended while no owld looked (${how}).`,
    `${id}이(가) owld가 없는 동안 끝났습니다(${how}).`,
  ],
  missed: (service: string, tick: string) => [
    `${service} was not run from ${tick} UTC on: nothing could be started then.`,
    `${service}을(를) ${tick} UTC부터 실행하지 못했습니다. 그때 시작할 수 없었습니다.`,
  ],
  skipped: (service: string, tick: string) => [
    `${service} was not run at ${tick} UTC: the run before goes on.`,
    `${service}을(를) ${tick} UTC에 실행하지 않았습니다. 이전 실행이 아직 진행 중입니다.`,
  ],
  late: (limit: string) => [`it took longer than schedule.limit (${limit})`, `schedule.limit(${limit})보다 오래 걸림`],
  ending: (id: string, grace: string) => [
    `${id} is told to end and has ${grace} for it.`,
    `${id}을(를) 끝냅니다. 마무리할 시간은 ${grace}입니다.`,
  ],
  stopped: ["its service was stopped", "서비스가 멈춤"],
} satisfies Catalogue;

export const recordedRuns = {
  started: (id: string, service: string, command: string) => [
    `${id} runs in the environment of ${service}: ${command}`,
    `${id}을(를) ${service}의 환경에서 실행합니다: ${command}`,
  ],
  ended: (id: string, how: string) => [`${id} has ended (${how}).`, `${id}이(가) 끝났습니다(${how}).`],
  cause: {
    aborted: ["whoever asked for it has left", "요청한 쪽이 떠남"],
    late: ["its hour is over", "한 시간이 지남"],
  },
} satisfies Catalogue;
