// What owlctl says.

import type { Catalogue } from "../../config/text.ts";
import { backupStatusWords, backupWords } from "./backup-words.ts";
import { commandWords } from "./command-words.ts";
import { notifyWords } from "./notify-words.ts";
import { postgresWords } from "./postgres-words.ts";
import { scheduleStatusWords } from "./schedule-words.ts";

type Data = Readonly<Record<string, unknown>>;

export const words = {
  /** Of a staged release whose signature was not looked at. */
  signing: {
    unknown: [
      "Its signature was not looked at: no release key is known here (OWL_HOME/release.pub).",
      "서명을 확인하지 않았습니다. 여기서 아는 릴리스 키가 없습니다(OWL_HOME/release.pub).",
    ],
    allowed: [
      "No key known here has signed it; it was taken because of --allow-unsigned.",
      "여기서 아는 키로 서명되지 않았으나 --allow-unsigned로 받았습니다.",
    ],
  },
  help: {
    program: [
      "Watch and steer owld: services, rollouts, logs, configuration.",
      "owld를 보고 다룹니다: 서비스, 롤아웃, 로그, 설정.",
    ],
    programAfter: [
      "Exit codes: 0 done, 1 it ran and failed, 2 wrong use, 3 owld not reachable, 4 another rollout runs,\n" +
        "5 --timeout passed (the work goes on), 10 --plan: there are changes, 78 configuration invalid, 130 Ctrl-C.\n" +
        "owld is found by --socket, OWL_CONTROL_SOCKET, OWL_HOME/run, ./.owl/run, /run/owl, in this order.",
      "종료 코드: 0 완료, 1 실행했으나 실패, 2 잘못된 사용, 3 owld에 연결할 수 없음, 4 다른 롤아웃이 진행 중,\n" +
        "5 --timeout 경과(작업은 계속됨), 10 --plan: 바뀔 것이 있음, 78 설정 오류, 130 Ctrl-C.\n" +
        "owld는 --socket, OWL_CONTROL_SOCKET, OWL_HOME/run, ./.owl/run, /run/owl 순서로 찾습니다.",
    ],
    socket: ["control socket of owld", "owld의 제어 소켓"],
    version: ["version of owlctl", "owlctl 버전"],
    help: ["show this help", "이 도움말"],
    helpCommand: ["help on a command", "명령의 도움말"],
    json: ["JSON on standard output", "표준 출력에 JSON으로"],
    timeout: [
      "stop watching after this long (30s, 10m); the work goes on",
      "이 시간이 지나면 지켜보기를 그만둠(30s, 10m); 작업은 계속됨",
    ],
    detach: ["do not watch: return at once with the rollout's id", "지켜보지 않고 롤아웃 id만 바로 돌려줌"],
    target: ["a service or an instance (web, web-7)", "서비스 또는 인스턴스(web, web-7)"],
    service: ["a service (web)", "서비스(web)"],
    yes: ["do not ask", "묻지 않음"],
  },
  confirm: {
    choices: ["[y/N]", "[y: 예 / N: 아니요]"],
    nobody: ["Nobody can be asked here: this is no terminal.", "터미널이 아니어서 물어볼 수 없습니다."],
    nobodyNext: ["Say it beforehand with --yes.", "--yes로 미리 답하십시오."],
  },
  examples: (lines: readonly string[]) => [
    `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    `\n예:\n${lines.map((line) => `  ${line}`).join("\n")}`,
  ],
  commands: { ...commandWords, ...backupWords, ...postgresWords, ...notifyWords },
  states: {
    starting: ["starting", "시작 중"],
    steady: ["steady", "안정"],
    rolling: ["rolling", "교체 중"],
    degraded: ["degraded", "저하"],
    stopping: ["stopping", "멈추는 중"],
  },
  instanceStates: {
    starting: ["starting", "시작 중"],
    ready: ["ready", "준비됨"],
    unhealthy: ["unhealthy", "비정상"],
    draining: ["draining", "비우는 중"],
    stopping: ["stopping", "멈추는 중"],
    backoff: ["backoff", "재시도 대기"],
    exited: ["exited", "종료됨"],
  },
  workerStates: {
    active: ["active", "활동 중"],
    draining: ["draining", "비우는 중"],
    stalled: ["stalled", "멈춤 의심"],
  },
  status: {
    pid: ["pid", "pid"],
    up: ["up", "가동"],
    release: ["release", "릴리스"],
    proxy: ["proxy", "프록시"],
    proxyFigures: (p: { inFlight: number; requests: number; retries: number; failures: number }) => [
      `${p.inFlight} in flight, ${p.requests} requests, ${p.retries} retried, ${p.failures} failed`,
      `처리 중 ${p.inFlight}, 요청 ${p.requests}, 재시도 ${p.retries}, 실패 ${p.failures}`,
    ],
    certificate: ["certificate", "인증서"],
    certificateStandIn: ["self-made, until the authority's is there", "직접 만든 것, 인증 기관의 것을 기다림"],
    certificateUnusable: ["cannot be used", "쓸 수 없음"],
    certificateUntil: (until: string) => [`until ${until}`, `${until}까지`],
    certificateNext: (next: string) => [`, ordered again ${next}`, `, ${next}에 다시 받음`],
    columns: {
      service: ["SERVICE", "서비스"],
      instance: ["INSTANCE", "인스턴스"],
      state: ["STATE", "상태"],
      pid: ["PID", "PID"],
      up: ["UP", "가동"],
      inFlight: ["IN FLIGHT", "처리 중"],
      memory: ["MEMORY", "메모리"],
      cpu: ["CPU", "CPU"],
      restarts: ["RESTARTS", "재시작"],
      lastExit: ["LAST EXIT", "마지막 종료"],
    },
    ...scheduleStatusWords,
    ofRelease: (id: string) => [`release ${id}`, `릴리스 ${id}`],
    stoppedFlag: ["(stopped)", "(멈춤)"],
    scaledFlag: (configured: number) => [`(scaled; owl.yaml: ${configured})`, `(조정됨; owl.yaml: ${configured})`],
    crashLooping: ["CRASH-LOOPING", "반복해서 죽음"],
    ...backupStatusWords,
    connections: ["connections", "연결"],
    connectionFigures: (c: {
      open: number;
      peak: number;
      steady: number;
      surge: number;
      limit: number;
      maxConnections: number;
    }) => [
      `${c.open} open, peak ${c.peak}; declared ${c.steady} steady, ${c.surge} in a rollout; limit ${c.limit} of ${c.maxConnections}`,
      `열림 ${c.open}, 최대 ${c.peak}; 선언된 합 평시 ${c.steady}, 롤아웃 중 ${c.surge}; 한도 ${c.limit}(전체 ${c.maxConnections})`,
    ],
    strangers: (list: string) => [`not Owl's: ${list}`, `Owl의 것이 아님: ${list}`],
    workers: ["workers", "워커"],
    noWorkers: ["none registered", "등록된 워커 없음"],
    heartbeat: (ago: string) => [`heartbeat ${ago} ago`, `심장 박동 ${ago} 전`],
    noJobs: ["idle", "쉬는 중"],
    ago: (time: string) => [`${time} ago`, `${time} 전`],
    exitUnknown: ["unknown", "알 수 없음"],
    exitCode: (code: number) => [`code ${code}`, `코드 ${code}`],
    neverStarted: ["did not start", "시작되지 않음"],
    outOfMemory: ["likely out of memory", "메모리 부족으로 보임"],
  },
  rollout: {
    kinds: {
      restart: ["restart", "재시작"],
      update: ["update", "업데이트"],
      rollback: ["rollback", "되돌리기"],
      deploy: ["deploy", "배포"],
    },
    states: {
      running: ["running", "진행 중"],
      succeeded: ["succeeded", "성공"],
      failed: ["failed", "실패"],
      cancelled: ["cancelled", "취소됨"],
    },
    stepStates: {
      waiting: ["waiting", "대기"],
      running: ["running", "진행 중"],
      done: ["done", "완료"],
      failed: ["failed", "실패"],
      skipped: ["skipped", "건너뜀"],
    },
    events: {
      starting: ["starting", "시작 중"],
      ready: ["ready", "준비됨"],
      routed: ["routed", "연결됨"],
      draining: ["draining", "비우는 중"],
      stopped: ["stopped", "끝남"],
      killed: ["killed", "강제 종료됨"],
      step: ["step", "단계"],
      failed: ["failed", "실패"],
    },
    action: (name: string) => [
      name,
      {
        start: "시작",
        ready: "준비 확인",
        route: "연결",
        drain: "비움",
        stop: "멈춤",
        stage: "준비",
        preflight: "사전 점검",
        compare: "비교",
        migrate: "마이그레이션",
        close: "닫음",
        copy: "복사",
        migrateClosed: "닫고 마이그레이션",
        restore: "복원",
        replace: "교체",
        confirm: "확인",
        switch: "전환",
        trial: "시험 시작",
        before: "사전 명령",
        prune: "정리",
        drainBack: "되돌림: 비움",
        closeBack: "되돌림: 닫음",
        replaceBack: "되돌림: 교체",
      }[name] ?? name,
    ],
    expected: (expected: string, worst: string) => [
      `expected ${expected}, at most ${worst}`,
      `예상 ${expected}, 최대 ${worst}`,
    ],
    steps: (done: number, all: number) => [`step ${done} of ${all}`, `단계 ${done}/${all}`],
    took: (time: string) => [`after ${time}`, `(${time})`],
    serving: ["serving; old instances still drain", "서비스 중; 옛 인스턴스를 비우는 중"],
    detached: (id: string) => [
      `${id} runs. Watch it: owlctl rollout watch ${id}`,
      `${id} 진행 중. 지켜보기: owlctl rollout watch ${id}`,
    ],
    cancelAsked: (id: string) => [`${id} ends after its current step.`, `${id}은(는) 지금 단계가 끝나면 끝납니다.`],
    none: ["No rollouts yet.", "롤아웃이 아직 없습니다."],
    columns: [
      ["ID", "KIND", "STATE", "STARTED", "TOOK", "REASON"],
      ["ID", "종류", "상태", "시작", "걸린 시간", "이유"],
    ],
    stepColumns: [
      ["#", "SERVICE", "STEP", "INSTANCE", "STATE", "STARTED", "TOOK"],
      ["#", "서비스", "단계", "인스턴스", "상태", "시작", "걸린 시간"],
    ],
  },
  ledger: {
    requestsFailed: (n: number) => [`requests failed ${n}`, `실패한 요청 ${n}`],
    retriedAtConnect: (n: number) => [`retried at connect ${n}`, `연결 재시도 ${n}`],
    drainedInFlight: (n: number) => [`drained in flight ${n}`, `끝까지 처리한 요청 ${n}`],
    longestDrain: (time: string) => [`longest drain ${time}`, `가장 긴 비움 ${time}`],
    streamsMoved: (n: number) => [`streams moved ${n}`, `옮긴 스트림 ${n}`],
    jobsFinished: (n: number) => [`jobs finished ${n}`, `끝낸 작업 ${n}`],
    jobsHandedBack: (n: number) => [`jobs handed back ${n}`, `돌려준 작업 ${n}`],
    jobsCut: (n: number) => [`jobs cut ${n}`, `끊긴 작업 ${n}`],
    jobsReclaimed: (n: number) => [`jobs reclaimed ${n}`, `회수한 작업 ${n}`],
    instancesKilled: (n: number) => [`killed ${n}`, `강제 종료 ${n}`],
  },
  plan: {
    nothing: ["Nothing to do.", "할 일이 없습니다."],
    service: ["SERVICE", "서비스"],
    action: ["STEP", "단계"],
    instance: ["INSTANCE", "인스턴스"],
    time: (expected: string, worst: string) => [
      `Expected ${expected}, at most ${worst}.`,
      `예상 ${expected}, 최대 ${worst}.`,
    ],
    connections: (peak: number, limit: number | null) => [
      `Peak connections ${peak}${limit === null ? "" : ` of ${limit}`}.`,
      `최대 연결 ${peak}${limit === null ? "" : ` / ${limit}`}.`,
    ],
    memory: (peak: string) => [`Peak memory ${peak}.`, `최대 메모리 ${peak}.`],
  },
  top: {
    figures: (perS: number, inFlight: number) => [
      `${perS} requests/s, ${inFlight} in flight`,
      `초당 요청 ${perS}, 처리 중 ${inFlight}`,
    ],
  },
  change: {
    nothing: ["Nothing to do.", "할 일이 없습니다."],
    done: ["Done.", "완료."],
    waiting: (services: string) => [
      `Waiting until it stands: ${services} (Ctrl-C ends the waiting only).`,
      `안정될 때까지 기다리는 중: ${services} (Ctrl-C는 기다림만 끝냅니다).`,
    ],
    notReady: (service: string) => [
      `${service} is new and ended or failed before it stood. The rest of owl.yaml is in force; it is tried again by itself.`,
      `새 서비스 ${service}이(가) 안정되기 전에 종료되었거나 실패했습니다. owl.yaml의 나머지는 적용되었으며, 자동으로 다시 시도합니다.`,
    ],
  },
  why: {
    wantedDown: ["stopped by a person", "사람이 멈춤"],
    process: ["process", "프로세스"],
    lastExit: ["last exit", "마지막 종료"],
    lastProbe: ["last check", "마지막 점검"],
    passed: ["passed", "통과"],
    failed: ["failed", "실패"],
    heartbeat: ["heartbeat", "심장 박동"],
    backoff: ["backoff", "재시도 대기"],
    backoffFigures: (attempt: number, delay: string, next: string) => [
      `try ${attempt}, waits ${delay}, next in ${next}`,
      `${attempt}번째 시도, 간격 ${delay}, 다음까지 ${next}`,
    ],
    restarts: ["restarts", "재시작"],
    leftOver: ["left over", "남은 프로세스"],
    changedEnv: ["environment changed since it started", "시작한 뒤 바뀐 환경 변수"],
    log: ["last lines of its log", "로그의 마지막 줄"],
  },
  watch: {
    comingUp: (services: string | null) => [
      services === null ? "Starting owld and its database ..." : `Coming up: ${services} ...`,
      services === null ? "owld와 데이터베이스를 시작하는 중 ..." : `올라오는 중: ${services} ...`,
    ],
    notUp: [
      "Not everything is up yet. Look at: owlctl status, owlctl why SERVICE, journalctl -u owl",
      "아직 모두 올라오지 않았습니다. 확인: owlctl status, owlctl why 서비스, journalctl -u owl",
    ],
    gone: [
      "owld is away; waiting for it (the work goes on) ...",
      "owld가 잠시 없습니다. 돌아오기를 기다립니다(작업은 계속됩니다) ...",
    ],
    back: ["owld is back; watching on.", "owld가 돌아왔습니다. 계속 지켜봅니다."],
    quit: ["Ctrl-C ends the view", "Ctrl-C로 끝냅니다"],
    interrupted: (id: string) => [
      `${id} goes on. Watch it again: owlctl rollout watch ${id}`,
      `${id}은(는) 계속됩니다. 다시 지켜보기: owlctl rollout watch ${id}`,
    ],
  },
  errors: {
    internal: (message: string) => [`owlctl itself failed: ${message}`, `owlctl 자체가 실패했습니다: ${message}`],
    internalNext: ["Run it again with OWL_DEBUG=1 for the details.", "자세히 보려면 OWL_DEBUG=1로 다시 실행하세요."],
    duration: (value: string) => [
      `Expected a duration such as 30s or 10m, got ${JSON.stringify(value)}.`,
      `30s, 10m 같은 시간이어야 하는데 ${JSON.stringify(value)}입니다.`,
    ],
    count: (value: string, least: number) => [
      `Expected a whole number from ${least}, got ${JSON.stringify(value)}.`,
      `${least} 이상의 정수여야 하는데 ${JSON.stringify(value)}입니다.`,
    ],
    noService: (name: string, known: string) => [
      `There is no ${JSON.stringify(name)}. Did you mean ${known}?`,
      `${JSON.stringify(name)}은(는) 없습니다. 혹시 ${known}인가요?`,
    ],
    meant: (command: string) => [`Here that is: owlctl ${command}`, `여기서는: owlctl ${command}`],
    usage: (usage: string, help: string) => [`Usage: ${usage}\nExamples: ${help}`, `사용법: ${usage}\n예: ${help}`],
    pair: (value: string) => [
      `Expected SERVICE=NUMBER such as web=3, got ${JSON.stringify(value)}.`,
      `web=3 같은 서비스=숫자여야 하는데 ${JSON.stringify(value)}입니다.`,
    ],
    shell: (value: string) => [
      `Expected bash, zsh or fish, got ${JSON.stringify(value)}.`,
      `bash, zsh, fish 중 하나여야 하는데 ${JSON.stringify(value)}입니다.`,
    ],
    grep: (value: string) => [
      `${JSON.stringify(value)} is not a regular expression.`,
      `${JSON.stringify(value)}은(는) 정규식이 아닙니다.`,
    ],
    noRollout: ["There has been no rollout yet.", "아직 롤아웃이 없었습니다."],
    noRolloutNext: ["Start one: owlctl restart", "시작: owlctl restart"],
    noneRuns: ["No rollout runs.", "진행 중인 롤아웃이 없습니다."],
    noneRunsNext: ["See those that ended: owlctl rollout list", "끝난 것 보기: owlctl rollout list"],
  },

  /** Sentences for codes whose error this program words itself (with the data that came along). */
  byCode: {
    "daemon.unreachable": (data: Data) => ({
      sentence: [
        `owld is not reachable on ${data.socket} (${data.reason}; found by ${data.by}).`,
        `${data.socket}에서 owld에 연결할 수 없습니다(${data.reason}; ${data.by}로 찾음).`,
      ],
      next: [
        "Start it with npm start or systemctl start owl, or name its socket with --socket PATH.",
        "npm start 또는 systemctl start owl로 시작하거나, --socket PATH로 소켓을 알려 주세요.",
      ],
    }),
    "daemon.silent": (data: Data) => ({
      sentence: [
        `owld does not answer on ${data.socket} (waited ${data.seconds} s).`,
        `${data.socket}의 owld가 답하지 않습니다(${data.seconds}초 기다림).`,
      ],
      next: ["See its log: journalctl -u owl", "로그 확인: journalctl -u owl"],
    }),
    "daemon.denied": (data: Data) => ({
      sentence: [
        `You may not use ${data.socket}: it belongs to its owner and group.`,
        `${data.socket}을(를) 쓸 권한이 없습니다. 소유자와 그룹만 쓸 수 있습니다.`,
      ],
      next: [
        "Use sudo, or join the group: sudo usermod -aG owl $USER (and sign in again).",
        "sudo를 쓰거나 그룹에 들어가세요: sudo usermod -aG owl $USER (다시 로그인)",
      ],
    }),
    "daemon.gone": () => ({
      sentence: ["owld went away in the middle of its answer.", "owld가 답하던 중에 사라졌습니다."],
      next: ["See whether it is back: owlctl status", "돌아왔는지 확인: owlctl status"],
    }),
    "watch.away": (data: Data) => ({
      sentence: [
        `owld has not come back for ${data.minutes} minutes; ${data.rollout} goes on once it has.`,
        `${data.minutes}분이 지나도 owld가 돌아오지 않았습니다. 돌아오면 ${data.rollout}이(가) 이어집니다.`,
      ],
      next: ["See its log, start it: journalctl -u owl", "로그를 보고 시작하세요: journalctl -u owl"],
    }),
    "watch.timeout": (data: Data) =>
      data.rollout === undefined
        ? [null, null]
        : [
            {
              sentence: `${data.rollout} still runs after the time you gave it; it goes on.`,
              next: `Watch it: owlctl rollout watch ${data.rollout}`,
            },
            {
              sentence: `주어진 시간이 지났지만 ${data.rollout}은(는) 계속 진행 중입니다.`,
              next: `지켜보기: owlctl rollout watch ${data.rollout}`,
            },
          ],
  },
} satisfies Catalogue;
