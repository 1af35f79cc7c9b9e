// What owld says to operators. Pure.
// Invariant: scripts match these English sentences: one changes only on purpose.

import type { InstanceState } from "../../../config/control-api.ts";
import { LANGUAGES } from "../../../config/language.ts";
import type { Catalogue } from "../../../config/text.ts";
import { noticeWords } from "./notice-words.ts";
import { preflightWords } from "./preflight-words.ts";
import { recordedWords } from "./recorded-words.ts";
import { refusedWords } from "./refused-words.ts";
import { wearWords } from "./wear-words.ts";

/** As owlctl names them. */
const STATES: Readonly<Record<InstanceState, string>> = {
  starting: "시작 중",
  ready: "준비됨",
  unhealthy: "비정상",
  draining: "비우는 중",
  stopping: "멈추는 중",
  backoff: "재시도 대기",
  exited: "종료됨",
};

export const words = {
  language: LANGUAGES,
  preflight: preflightWords,
  refused: refusedWords,
  recorded: recordedWords,
  seconds: (n: number) => [`${n} s`, `${n}초`],
  minutes: (n: number) => [`${n} min`, `${n}분`],
  list: (parts: readonly string[]) => [parts.join("; "), parts.join("; ")],
  plan: {
    overLimit: (peak: number, limit: number) => [
      `At its peak ${peak} connections are declared, over the server's ${limit}: one more than replicas cannot be narrowed further.`,
      `가장 많을 때 선언된 연결이 ${peak}개로 서버의 ${limit}개를 넘습니다. 하나씩 교체하는 것보다 더 줄일 수는 없습니다.`,
    ],
    count: (service: string, from: number, to: number) => [
      `${service}: ${from} to ${to}.`,
      `${service}: ${from}개에서 ${to}개로 바꿉니다.`,
    ],
  },
  reload: {
    isNew: (service: string, replicas: number) => [
      `${service} is new: ${replicas} are started.`,
      `${service}은(는) 새 서비스입니다. 인스턴스 ${replicas}개를 시작합니다.`,
    ],
    isTimed: (service: string, cron: string, zone: string) => [
      `${service} is new: it runs at "${cron}" (${zone}).`,
      `${service}은(는) 새 서비스입니다. "${cron}"(${zone})에 실행합니다.`,
    ],
    isGone: (service: string) => [
      `${service} is gone: its instances are stopped.`,
      `${service}이(가) 설정에서 없어졌습니다. 인스턴스를 멈춥니다.`,
    ],
    takenOver: (service: string) => [
      `${service}: taken over without a restart.`,
      `${service}: 재시작 없이 새 설정을 적용합니다.`,
    ],
    replaced: (service: string, count: number) => [
      `${service}: ${count} are replaced, for what runs has changed.`,
      `${service}: 실행할 내용이 바뀌어 인스턴스 ${count}개를 교체합니다.`,
    ],
    proxy: ["The proxy is replaced by one with its new settings.", "프록시를 새 설정의 프록시로 교체합니다."],
    home: [
      "The state directory stays as it is until owld is started again.",
      "상태 디렉터리는 owld를 다시 시작할 때까지 그대로입니다.",
    ],
  },
  notices: noticeWords,
  wear: wearWords,
  done: {
    started: (service: string) => [`${service} is started.`, `${service}을(를) 시작합니다.`],
    startedInPlace: (service: string, instance: string) => [
      `An instance of ${service} is started in the place of ${instance}; numbers never repeat.`,
      `${instance}의 자리에 ${service}의 인스턴스를 시작합니다. 번호는 다시 쓰지 않습니다.`,
    ],
    stopped: (name: string, grace: string | null) => [
      `${name} ${grace === null ? "is stopped" : `is stopping and has ${grace} for what it runs`}; it stays stopped until: owlctl start ${name}`,
      `${name}${grace === null ? "은(는) 멈춰 있습니다" : `을(를) 멈춥니다. 하던 일을 끝낼 시간은 ${grace}입니다`}. 다시 시작할 때까지 멈춰 있습니다: owlctl start ${name}`,
    ],
    killed: (instance: string) => [
      `${instance} and its process group got SIGKILL.`,
      `${instance}과(와) 그 프로세스 그룹에 SIGKILL을 보냈습니다.`,
    ],
    cut: (requests: number) => [
      requests === 0 ? "No request was in flight in it." : `${requests} requests in flight in it were cut.`,
      requests === 0 ? "처리 중인 요청은 없었습니다." : `처리 중이던 요청 ${requests}개가 끊겼습니다.`,
    ],
    backup: ["A backup begins.", "백업을 시작합니다."],
    reexec: ["owld starts again; everything else runs on.", "owld가 다시 시작합니다. 나머지는 계속 실행됩니다."],
  },
  warnings: {
    notInForce: (reason: string | null) => [
      `owl.yaml is not in force: ${reason ?? "it was changed since it was last read."} What served before runs on. Correct it, then: owlctl reload`,
      `owl.yaml이 적용되지 않았습니다: ${reason ?? "마지막으로 읽은 뒤에 바뀌었습니다."} 이전 설정으로 계속 실행 중입니다. 고친 다음: owlctl reload`,
    ],
    setAside: (path: string, reason: string) => [
      `The state file was set aside as ${path}: ${reason}. Processes are adopted by their marks.`,
      `상태 파일을 ${path}(으)로 치워 두었습니다: ${reason}. 프로세스는 표시로 알아보고 이어받습니다.`,
    ],
    runFailed: (service: string, id: string, how: string) => [
      `The last run of ${service} did not succeed (${how}): owlctl logs ${id}`,
      `${service}의 마지막 실행이 성공하지 못했습니다(${how}): owlctl logs ${id}`,
    ],
    diskFull: (failing: string) => [
      `The state file cannot be written (${failing}): supervision goes on from memory, rollouts wait.`,
      `상태 파일에 쓸 수 없습니다(${failing}). 감독은 메모리로 계속하고, 롤아웃은 기다립니다.`,
    ],
    limits: (why: string) => [
      `Services with controlGroup: run without its limits: ${why}.`,
      `controlGroup:이 있는 서비스가 그 제한 없이 실행됩니다: ${why}.`,
    ],
    database: (why: string) => [`The database did not start: ${why}`, `데이터베이스가 시작되지 않았습니다: ${why}`],
    proxy: (why: string) => [
      `The proxy does not run by this configuration and is tried again: ${why}`,
      `프록시가 지금 설정대로 실행되지 않아 계속 다시 시도합니다: ${why}`,
    ],
    renewal: (names: string, failures: number, why: string, next: string) => [
      `The certificate for ${names} was not issued (${failures} in a row): ${why}. Next try: ${next}`,
      `${names}의 인증서를 받지 못했습니다(연속 ${failures}번): ${why}. 다음 시도: ${next}`,
    ],
    certificate: (found: string) => [`The certificate: ${found}.`, `인증서: ${found}.`],
    strays: (processes: string) => [
      `Processes of earlier instances nobody owns live on: ${processes}. End them by hand when they are not wanted.`,
      `이전 인스턴스의 프로세스가 주인 없이 살아 있습니다: ${processes}. 필요 없으면 직접 끝내십시오.`,
    ],
    newerJobs: (count: number) => [
      `${count} ${count === 1 ? "job waits" : "jobs wait"} in a format that the running release does not know: turns among them are closed at their claim limit, the others wait. Update to the release they were accepted under: owlctl update ARCHIVE`,
      `지금 릴리스가 모르는 형식의 작업 ${count}개가 기다립니다. 그중 턴은 대기 한도에 닫히고 나머지는 계속 기다립니다. 그 작업을 접수한 릴리스로 업데이트하세요: owlctl update ARCHIVE`,
    ],
    drillFailed: (why: string) => [
      `The last restore drill failed: ${why} Try again: owlctl drill`,
      `마지막 복원 훈련이 실패했습니다: ${why} 다시 하기: owlctl drill`,
    ],
    drillMissing: [
      "No restore was proven for a long time. Prove one: owlctl drill",
      "오랫동안 복원을 확인하지 않았습니다. 확인하기: owlctl drill",
    ],
    overDeclared: (instance: string, open: number, declared: number, service: string) => [
      `${instance} has ${open} connections open but declares ${declared}: raise services.${service}.connections.`,
      `${instance}이(가) 연결을 ${open}개 열었지만 선언은 ${declared}개입니다. services.${service}.connections를 늘리십시오.`,
    ],
  },
  why: {
    // A cause that names the instance itself is a sentence of its own.
    instance: (id: string, state: InstanceState, leaving: boolean, cause: string | null) => [
      `${id} is ${state}${leaving ? ", on its way out" : ""}${cause === null ? "" : `${cause.startsWith(id) ? "." : ":"} ${cause}`}${cause?.endsWith(".") ? "" : "."}`,
      `${id}: ${STATES[state]}${leaving ? ", 나가는 중" : ""}${cause === null ? "" : `${cause.startsWith(id) ? "." : ":"} ${cause}`}${cause?.endsWith(".") ? "" : "."}`,
    ],
    timed: (service: string, cron: string, zone: string) => [
      `${service} runs at "${cron}" (${zone}), not always.`,
      `${service}은(는) 항상이 아니라 "${cron}"(${zone})에 실행됩니다.`,
    ],
    lastRun: (id: string, how: string) => [`Its last run was ${id}: ${how}.`, `마지막 실행 ${id}: ${how}.`],
    crashLooping: (service: string) => [
      `${service} is crash-looping: 5 crashes within 60 s. It is tried again every 30 s.`,
      `${service}이(가) 60초 안에 5번 죽어 반복해서 죽는 상태입니다. 30초마다 다시 시도합니다.`,
    ],
    order: (names: string, next: string, failures: number, why: string | null) => [
      `The certificate for ${names} is ordered next at ${next}${failures === 0 ? "" : ` (${failures} failed in a row: ${why ?? "its end was not seen"})`}.`,
      `${names}의 인증서는 ${next}에 다시 받습니다${failures === 0 ? "" : `(연속 ${failures}번 실패: ${why ?? "끝을 보지 못함"})`}.`,
    ],
    awaits: (service: string, others: string) => [
      `${service} waits for ${others} (depends_on), of which none is ready.`,
      `${service}은(는) ${others}을(를) 기다립니다(depends_on): 준비된 것이 없습니다.`,
    ],
    noInstance: (service: string) => [`${service} has no instance.`, `${service}에 인스턴스가 없습니다.`],
  },
  /** Of a release that was taken without a signature looked at. */
  signing: {
    unknown: [
      "Its signature is not looked at: no release key is known here (OWL_HOME/release.pub).",
      "서명을 확인하지 않음: 여기서 아는 릴리스 키가 없음(OWL_HOME/release.pub)",
    ],
    allowed: [
      "No key known here has signed it; it is taken because of --allow-unsigned.",
      "여기서 아는 키로 서명되지 않았으나 --allow-unsigned로 받음",
    ],
  },
  update: {
    steps: {
      stage: (to: string) => [`${to} is unpacked and verified already`, `${to}은(는) 이미 풀어 검증함`],
      preflight: [
        "checks by the running and by the new code; one FAIL ends it here, nothing changed",
        "지금 코드와 새 코드가 점검함; FAIL이 하나라도 있으면 아무것도 바꾸지 않고 끝남",
      ],
      compare: ["done for this plan; done again then", "이 계획을 위해 이미 했고, 그때 다시 함"],
      migrate: (names: string) => [
        `${names}, in one transaction beside the running processes`,
        `${names}, 실행 중인 프로세스 옆에서 트랜잭션 하나로`,
      ],
      migrateNone: [
        "no migration; the new release's job queues are put in place",
        "마이그레이션 없음; 새 릴리스의 작업 큐를 준비함",
      ],
      drain: (workers: number, grace: string) => [
        `${workers} ${workers === 1 ? "worker" : "workers"} asked to stop at once, each within ${grace}`,
        `워커 ${workers}개를 한꺼번에 멈춤, 각각 최대 ${grace}`,
      ],
      close: (grace: string) => [
        `pages answer 503; web stops within ${grace}`,
        `페이지가 503으로 답함; 웹은 ${grace} 안에 멈춤`,
      ],
      copyFiles: [
        "PostgreSQL rests while its files are copied and verified",
        "PostgreSQL을 쉬게 하고 파일을 복사해 검증함",
      ],
      copyDump: [
        "pg_dump of Owl's schemas, read back before it counts",
        "Owl의 스키마를 pg_dump로 복사하고, 다시 읽어 확인함",
      ],
      copySize: (size: string) => [
        ` (the data: ${size}; so much free disk and some more is needed)`,
        ` (데이터 ${size}; 디스크 여유가 그보다 조금 더 필요함)`,
      ],
      migrateClosed: (names: string) => [
        `${names || "the queue's own schema"}; nothing runs meanwhile`,
        `${names || "큐 자체의 스키마"}; 그동안 아무것도 실행되지 않음`,
      ],
      restore: [
        "the older copy is put back; jobs it holds are ended or put in line by their kind's rule",
        "이전 복사본을 되돌려 놓음; 그 안의 작업은 종류별 규칙대로 끝내거나 다시 줄을 세움",
      ],
      replaceClosed: (to: string) => [
        `web and workers of ${to} start; pages are served again`,
        `${to}의 웹과 워커를 시작함; 페이지를 다시 제공함`,
      ],
      replace: ["web one by one, the new one first; workers start", "웹은 새것부터 하나씩 교체함; 워커를 시작함"],
      confirm: (time: string) => [
        `health and heartbeats for ${time}, then one request through the proxy`,
        `${time} 동안 점검과 심장 박동을 본 뒤, 프록시를 거쳐 요청을 하나 보냄`,
      ],
      switch: (to: string) => [`current points to ${to}`, `current가 ${to}을(를) 가리킴`],
      switchOwn: (to: string) => [
        `current points to ${to}; your services are not touched`,
        `current가 ${to}을(를) 가리킴; 서비스는 건드리지 않음`,
      ],
      trial: [
        "owld starts again on the new release; not up by its third start, everything goes back",
        "owld가 새 릴리스로 다시 시작함; 세 번 안에 올라오지 못하면 모두 되돌림",
      ],
      prune: [
        "older releases beyond three go; the proxy is replaced when its code changed",
        "릴리스는 셋만 남기고 오래된 것을 지움; 코드가 바뀌었으면 프록시도 교체함",
      ],
    },
    same: (version: string) => [`${version} is what runs already.`, `${version}이(가) 이미 실행 중입니다.`],
    fromTo: (from: string, to: string) => [`${from} to ${to}.`, `${from}에서 ${to}(으)로 바꿉니다.`],
    ownServices: [
      "Owl itself is updated: owld, its proxy, owlctl. Your services run on, untouched; their own code is yours to replace (owlctl restart).",
      "Owl 자체(owld, 프록시, owlctl)를 업데이트합니다. 서비스는 건드리지 않고 계속 실행됩니다. 서비스의 코드는 직접 바꾸십시오(owlctl restart).",
    ],
    ownWayBack: [
      "No downtime: the proxy hands its listening socket on. The way back: owlctl rollback.",
      "중단이 없습니다. 프록시가 접속을 받는 소켓을 넘겨줍니다. 되돌리기: owlctl rollback.",
    ],
    overlap: [
      "Old and new workers overlap: nothing about jobs changed.",
      "작업에 관해 바뀐 것이 없어 옛 워커와 새 워커를 함께 둡니다.",
    ],
    drainFirst: (reasons: string, time: string) => [
      `Workers drain first (${reasons}): at most ${time} without a worker. Turns asked meanwhile wait in line; a running one that does not end in time is closed with its message.`,
      `워커를 먼저 비웁니다(${reasons}). 워커가 없는 시간은 최대 ${time}입니다. 그동안 들어온 턴은 줄을 서고, 실행 중인 턴이 제때 끝나지 않으면 안내와 함께 닫힙니다.`,
    ],
    newFormat: [
      "Jobs of the new format are run by the new release alone: should it be taken back, turns among them are closed at their claim limit and other work waits for it.",
      "새 형식의 작업은 새 릴리스만 실행합니다. 릴리스를 되돌리면 그중 턴은 대기 한도에 닫히고 다른 작업은 새 릴리스를 기다립니다.",
    ],
    queueSchema: [
      "The queue's own schema changes, which counts as incompatible.",
      "큐 자체의 스키마가 바뀝니다. 이는 호환되지 않는 변경입니다.",
    ],
    served: ["No downtime: pages are served throughout.", "중단이 없습니다. 페이지를 계속 제공합니다."],
    codeBack: [
      "The way back, by itself when it fails or later by owlctl rollback: the old code alone. Nothing is lost.",
      "실패하면 저절로, 나중에는 owlctl rollback으로 되돌립니다. 옛 코드로 돌아갈 뿐이며 잃는 것이 없습니다.",
    ],
    closed: (time: string) => [`Pages answer 503 for at most ${time}.`, `페이지가 최대 ${time} 동안 503으로 답합니다.`],
    copyBack: (time: string) => [
      `The way back is the copy: should it fail by itself, what was written since the copy is lost (pages are closed until the new web serves, so only what it took in its first ${time}); by hand later, everything written since. owlctl rollback --plan counts it. Jobs the copy holds are ended by their kind's rule, none is run twice.`,
      `되돌릴 때는 복사본을 씁니다. 저절로 실패하면 복사한 뒤에 쓴 것을 잃습니다(새 웹이 제공되기까지 페이지가 닫혀 있으므로 처음 ${time} 동안 받은 것만입니다). 나중에 직접 되돌리면 그 뒤에 쓴 것을 모두 잃습니다. 그 양은 owlctl rollback --plan이 셉니다. 복사본에 있는 작업은 종류별 규칙대로 끝내며, 두 번 실행하지 않습니다.`,
    ],
    refusedBy: (check: string, found: string, command: string) => [
      `It would be refused by preflight, ${check}: ${found}. Try: ${command}`,
      `사전 점검이 거부합니다. ${check}: ${found}. 확인: ${command}`,
    ],
    warnedBy: (check: string, found: string, command: string) => [
      `Preflight warns, ${check}: ${found}. Try: ${command}`,
      `사전 점검이 경고합니다. ${check}: ${found}. 확인: ${command}`,
    ],
    reasons: {
      byDefault: ["drain first is the default", "먼저 비우는 것이 기본임"],
      noManifest: [
        "the running release has no manifest to compare with",
        "실행 중인 릴리스에 비교할 매니페스트가 없음",
      ],
      kindNew: (kind: string) => [`job kind ${kind} is new`, `작업 종류 ${kind}이(가) 새로 생김`],
      kindGone: (kind: string) => [`job kind ${kind} is gone`, `작업 종류 ${kind}이(가) 없어짐`],
      format: (kind: string, to: number, from: number) => [
        `job kind ${kind} has format ${to}, was ${from}`,
        `작업 종류 ${kind}의 형식이 ${from}에서 ${to}(으)로 바뀜`,
      ],
      argument: (kind: string) => [`the arguments of job kind ${kind} changed`, `작업 종류 ${kind}의 인자가 바뀜`],
      touchesJobs: (migration: string) => [
        `migration ${migration} changes tables that jobs live in`,
        `마이그레이션 ${migration}이(가) 작업이 들어 있는 테이블을 바꿈`,
      ],
      incompatible: (migration: string) => [
        `migration ${migration} is incompatible with the old code`,
        `마이그레이션 ${migration}이(가) 옛 코드와 호환되지 않음`,
      ],
      queue: ["the queue's own schema changes", "큐 자체의 스키마가 바뀜"],
    },
  },
  rollback: {
    backTo: (from: string, to: string) => [`${from} back to ${to}.`, `${from}에서 ${to}(으)로 되돌립니다.`],
    ownServices: [
      "Owl itself goes back; your services run on, untouched.",
      "Owl 자체를 되돌립니다. 서비스는 건드리지 않고 계속 실행됩니다.",
    ],
    codeOnly: [
      "Code only: the older release can live with the database of now. Nothing is lost.",
      "코드만 바꿉니다. 이전 릴리스가 지금의 데이터베이스를 그대로 쓸 수 있으며 잃는 것이 없습니다.",
    ],
    restores: (time: string) => [
      `The older release cannot live with the database of now: pages answer 503 for at most ${time} while the copy taken before the update is put back (a copy of now is taken first).`,
      `이전 릴리스는 지금의 데이터베이스를 쓸 수 없습니다. 업데이트 전에 만든 복사본을 되돌려 놓는 동안 페이지가 최대 ${time} 동안 503으로 답합니다(지금의 복사본을 먼저 만듭니다).`,
    ],
    nothingLost: ["Nothing was written since that copy.", "그 복사본 뒤에 쓴 것이 없습니다."],
    lost: (writes: number, firstAt: string | null, lastAt: string | null) => [
      `${writes} writes since that copy are lost, from ${firstAt} to ${lastAt}.`,
      `그 복사본 뒤의 기록 ${writes}건을 잃습니다. ${firstAt}부터 ${lastAt}까지의 것입니다.`,
    ],
    newerJobs: (count: number) => [
      `${count} ${count === 1 ? "job waits" : "jobs wait"} in a format the older release does not know: turns among them are closed at their claim limit, the others wait until a release that knows them runs again.`,
      `이전 릴리스가 모르는 형식의 작업 ${count}개가 기다립니다. 그중 턴은 대기 한도에 닫히고, 나머지는 그 형식을 아는 릴리스가 다시 실행될 때까지 기다립니다.`,
    ],
  },
} satisfies Catalogue;
