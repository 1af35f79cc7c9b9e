// Preflight's words. Pure.

import type { Catalogue } from "../../../config/text.ts";
import type { Unfit } from "../control-groups.ts";

export const preflightWords = {
  unknown: (what: string) => [`${what} could not be read`, `${what}을(를) 읽을 수 없음`],
  slow: {
    why: [
      "A restart does not wait longer for its checks; ask for them by yourself.",
      "재시작은 점검을 더 기다리지 않습니다. 직접 점검해 보십시오.",
    ],
    found: (bound: string) => [`the checks took longer than ${bound}`, `점검이 ${bound} 안에 끝나지 않음`],
  },
  configuration: {
    why: [
      "An invalid configuration would be refused at the next reload or start.",
      "잘못된 설정은 다음 reload나 시작에서 거부됩니다.",
    ],
    warningWhy: ["It is accepted, but probably not what was meant.", "받아들여지지만 의도와 다를 수 있습니다."],
    valid: (file: string | null) => [
      `${file ?? "no owl.yaml: the defaults"}, valid`,
      `${file ?? "owl.yaml 없음: 기본값"}, 유효함`,
    ],
  },
  turnBudget: {
    why: [
      "A turn told to stop needs its finish and wrap-up within the grace, or it is cut.",
      "멈추라는 신호를 받은 턴은 유예 시간 안에 마무리해야 하며, 아니면 끊깁니다.",
    ],
    found: (finish: string, wrapUp: string, grace: string) => [
      `finish ${finish} + wrap-up ${wrapUp}, grace ${grace}`,
      `finish ${finish} + wrapUp ${wrapUp}, 유예 ${grace}`,
    ],
  },
  turnLength: {
    why: [
      "Turns longer than turn.finish are wrapped up early when a worker is replaced.",
      "turn.finish보다 긴 턴은 워커를 교체할 때 일찍 마무리됩니다.",
    ],
    unmeasured: ["too few answered turns to tell", "판단하기에는 답변된 턴이 너무 적음"],
    found: (p95: string, finish: string) => [
      `95 of 100 turns end within ${p95}; turn.finish is ${finish}`,
      `턴 100개 중 95개가 ${p95} 안에 끝남; turn.finish는 ${finish}`,
    ],
  },
  commands: {
    why: [
      "A wrapper swallows SIGTERM: the program behind it does not drain and is killed after the grace.",
      "감싸는 프로그램이 SIGTERM을 삼키면 실제 프로그램은 정리하지 못하고 유예 뒤에 강제 종료됩니다.",
    ],
    direct: ["every service is started directly", "모든 서비스를 직접 시작함"],
    edit: ["$EDITOR owl.yaml && owlctl reload", "$EDITOR owl.yaml && owlctl reload"],
    found: (service: string, wrapper: string) => [
      `services.${service} is started through ${wrapper}`,
      `services.${service}을(를) ${wrapper}로 시작함`,
    ],
    fixShell: (service: string, script: string) => [
      `Write services.${service}.command as a list, or: [sh, -c, "exec ${script}"].`,
      `services.${service}.command를 목록으로 쓰거나 [sh, -c, "exec ${script}"]로 쓰세요.`,
    ],
    fixRunner: (service: string, script: string | null) => [
      script === null
        ? `Name the program itself in services.${service}.command.`
        : `Its script is: ${script}. Write that in services.${service}.command, as a list.`,
      script === null
        ? `services.${service}.command에 실제 프로그램을 쓰세요.`
        : `실제 스크립트: ${script}. 이것을 services.${service}.command에 목록으로 쓰세요.`,
    ],
  },
  programs: {
    why: ["Such a service cannot be started at all.", "이런 서비스는 시작조차 할 수 없습니다."],
    command: (service: string, program: string) => [
      `services.${service}.command: there is no program ${program}`,
      `services.${service}.command: ${program} 프로그램이 없음`,
    ],
    unfit: (service: string, file: string) => [
      `services.${service}.command: ${file} cannot be executed`,
      `services.${service}.command: ${file}을(를) 실행할 수 없음`,
    ],
    check: (service: string, program: string) => [
      `services.${service}.health.command: ${program} is not there or cannot be executed`,
      `services.${service}.health.command: ${program}이(가) 없거나 실행할 수 없음`,
    ],
    cwd: (service: string, directory: string) => [
      `services.${service}.cwd: there is no directory ${directory}`,
      `services.${service}.cwd: ${directory} 디렉터리가 없음`,
    ],
  },
  certificate: {
    why: [
      "Clients refuse what does not fit; the proxy serves on with the last one that could be used.",
      "맞지 않는 인증서는 클라이언트가 거부합니다. 프록시는 마지막으로 쓸 수 있었던 것으로 계속 서비스합니다.",
    ],
    standIn: [
      "a self-made one serves until the authority's is there; browsers warn of it",
      "인증 기관의 인증서가 올 때까지 직접 만든 인증서를 씁니다. 브라우저가 경고합니다",
    ],
    good: (path: string, until: string) => [`${path} holds until ${until}`, `${path}: ${until}까지 유효함`],
    otherKey: (path: string, key: string) => [
      `${path} does not belong to the key ${key}`,
      `${path}은(는) ${key} 키의 인증서가 아님`,
    ],
    unusable: (path: string, why: string) => [`${path} cannot be used: ${why}`, `${path}을(를) 쓸 수 없음: ${why}`],
    notNow: (path: string, from: string, until: string) => [
      `${path} holds from ${from} to ${until} only`,
      `${path}은(는) ${from}부터 ${until}까지만 유효함`,
    ],
    ends: (path: string, days: number, until: string) => [
      `${path} ends in ${days} days, on ${until}`,
      `${path}은(는) ${days}일 뒤(${until}) 끝남`,
    ],
    unnamed: (path: string, hosts: string) => [
      `${path} does not name these hosts of routes: ${hosts}`,
      `${path}에 없는 경로의 호스트: ${hosts}`,
    ],
  },
  database: {
    why: [
      "Without it no turn is accepted or ended, and no migration can run.",
      "없으면 턴을 받거나 끝낼 수 없고 마이그레이션도 할 수 없습니다.",
    ],
    down: ["it is not up", "실행 중이 아님"],
    silent: (kind: "managed" | "external", reason: string) => [
      `the ${kind} PostgreSQL does not answer: ${reason}`,
      `PostgreSQL(${kind === "managed" ? "Owl 관리" : "외부"})이 응답하지 않음: ${reason}`,
    ],
    answers: (kind: "managed" | "external", version: string, max: number) => [
      `the ${kind} PostgreSQL ${version} answers, max_connections ${max}`,
      `PostgreSQL ${version}(${kind === "managed" ? "Owl 관리" : "외부"}) 응답함, max_connections ${max}`,
    ],
  },
  pooler: {
    why: [
      "Web and workers keep sessions: LISTEN, prepared statements, timeouts set at the start, locks. A pooler that hands a server to another session after each transaction loses them silently.",
      "웹과 워커는 세션을 유지합니다(LISTEN, 준비된 문, 시작할 때 정하는 제한 시간, 잠금). 트랜잭션마다 서버를 바꾸는 풀러를 거치면 이것들이 소리 없이 사라집니다.",
    ],
    transaction: [
      "database.url leads to a connection pooler in transaction mode (such as PgBouncer), which Owl cannot work through",
      "database.url이 트랜잭션 모드의 연결 풀러(PgBouncer 등)를 가리킴. Owl은 이것을 거쳐 동작할 수 없음",
    ],
    startup: [
      "database.url leads to a connection pooler that refuses statement_timeout at the start of a session",
      "database.url이 세션 시작 때 statement_timeout을 거부하는 연결 풀러를 가리킴",
    ],
    edit: [
      "owlctl config show # database.url: PostgreSQL's own address and port (5432), not the pooler's; Owl's pools bound the connections",
      "owlctl config show # database.url에 풀러가 아니라 PostgreSQL의 주소와 포트(5432)를 쓰십시오. 연결 수는 Owl의 풀이 제한합니다",
    ],
  },
  sources: {
    why: [
      "Members' statements run as this role, READ ONLY and bounded in time and rows by Owl; memory is bounded by the server alone (a statement may take about 1 GB).",
      "구성원의 SQL은 이 역할로 실행됩니다. Owl은 읽기 전용, 시간, 행 수를 제한하지만 메모리는 서버만 제한할 수 있습니다(문 하나에 1 GB쯤까지).",
    ],
    silent: (name: string, why: string) => [
      `dataSources.${name} does not answer: ${why}`,
      `dataSources.${name}이(가) 응답하지 않음: ${why}`,
    ],
    reads: (name: string, role: string) => [
      `dataSources.${name}: the role ${role} only reads`,
      `dataSources.${name}: ${role} 역할은 읽기만 함`,
    ],
    may: (name: string, role: string, what: string) => [
      `dataSources.${name}: the role ${role} ${what}`,
      `dataSources.${name}: ${role} 역할 - ${what}`,
    ],
    fault: {
      superuser: ["is a superuser", "슈퍼유저임"],
      memberOf: [
        "is in roles that see or end others' statements, or touch files",
        "남의 문이나 파일에 손댈 수 있는 역할에 속함",
      ],
      writes: ["may write tables (use a role that only reads)", "테이블에 쓸 수 있음(읽기만 하는 역할을 쓰십시오)"],
      creates: ["may make tables or schemas", "테이블이나 스키마를 만들 수 있음"],
      tempFiles: ["may fill the disk with temporary files", "임시 파일로 디스크를 채울 수 있음"],
    },
  },
  connections: {
    why: {
      ok: [
        "Every instance may open all it declares, also during a rollout.",
        "교체 중에도 모든 인스턴스가 선언한 만큼 연결할 수 있습니다.",
      ],
      warn: [
        "A rollout does not fit: it is narrowed, and what cannot be narrowed is refused before it starts.",
        "교체 중의 합이 한도를 넘습니다: 동시에 교체하는 수를 줄이고, 줄일 수 없으면 시작 전에 거부합니다.",
      ],
      fail: [
        "Even the steady sum does not fit: a rollout or update touches no process.",
        "평상시의 합도 한도를 넘습니다: 교체나 업데이트는 어떤 프로세스도 건드리지 않습니다.",
      ],
    },
    strangersWhy: ["Connections of others take from the same limit.", "다른 프로그램의 연결도 같은 한도를 씁니다."],
    sums: (steady: number, surge: number, limit: number | null) => [
      `declared: steady ${steady}, rollout ${surge}; the server grants ${limit ?? "?"}`,
      `선언: 평상시 ${steady}, 교체 중 ${surge}; 서버 한도 ${limit ?? "?"}`,
    ],
    strangers: (count: number, names: string) => [
      `${count} connections are not Owl's: ${names}`,
      `Owl의 것이 아닌 연결 ${count}개: ${names}`,
    ],
  },
  migrations: {
    why: [
      "Compatible ones run beside the old code; incompatible ones need workers and web stopped.",
      "호환되는 것은 이전 코드와 함께 실행되고, 호환되지 않는 것은 워커와 웹을 멈춰야 합니다.",
    ],
    none: ["none pending", "대기 중인 것 없음"],
    pending: (names: string, compatible: boolean) => [
      `pending (${compatible ? "compatible" : "incompatible"}): ${names}`,
      `대기 중(${compatible ? "호환" : "비호환"}): ${names}`,
    ],
  },
  dump: {
    why: [
      "An update with incompatible migrations copies the database first, to be able to go back.",
      "호환되지 않는 마이그레이션이 있는 업데이트는 되돌릴 수 있도록 데이터베이스를 먼저 복사합니다.",
    ],
    managed: [
      "not needed: the managed database is copied as files",
      "필요 없음: Owl이 관리하는 데이터베이스는 파일로 복사함",
    ],
    missing: ["pg_dump was not found", "pg_dump를 찾을 수 없음"],
    found: (path: string, own: number, server: number) => [
      `${path}, version ${own}; server ${server}`,
      `${path}, 버전 ${own}; 서버 ${server}`,
    ],
  },
  disk: {
    why: {
      release: ["The next release is unpacked beside this one.", "다음 릴리스는 지금 것 옆에 풀립니다."],
      dump: ["An update may copy the whole database.", "업데이트가 데이터베이스 전체를 복사할 수 있습니다."],
      logs: [
        "Instance logs and the state file grow here; a full disk pauses rollouts.",
        "인스턴스 로그와 상태 파일이 여기에 쌓이며, 디스크가 차면 교체가 멈춥니다.",
      ],
    },
    found: (path: string, free: string, needed: string) => [
      `${path}: ${free} free, ${needed} wanted`,
      `${path}: 여유 ${free}, 필요 ${needed}`,
    ],
  },
  memory: {
    why: [
      "During a rollout one instance more runs; without room it is not started.",
      "교체 중에는 인스턴스가 하나 더 실행되며, 자리가 없으면 시작하지 않습니다.",
    ],
    unmeasured: (available: string) => [
      `${available} available; no instance measured yet`,
      `사용 가능 ${available}; 아직 측정된 인스턴스 없음`,
    ],
    found: (available: string, needed: string) => [
      `${available} available, the largest instance needs ${needed}`,
      `사용 가능 ${available}, 가장 큰 인스턴스에 필요한 양 ${needed}`,
    ],
  },
  descriptors: {
    why: [
      "Each proxied connection takes two; above the limit clients are refused.",
      "프록시 연결 하나에 둘이 필요하고, 한도를 넘으면 접속이 거부됩니다.",
    ],
    found: (limit: number, needed: number) => [`limit ${limit}, needed ${needed}`, `한도 ${limit}, 필요 ${needed}`],
  },
  clock: {
    why: ["Sessions, records and TLS go by it.", "세션, 기록, TLS가 이 시계를 따릅니다."],
    found: (now: string) => [`${now}`, `${now}`],
    behind: (now: string, newest: string) => [
      `${now} is before this installation's newest file (${newest})`,
      `${now}: 설치된 가장 새 파일(${newest})보다 이전임`,
    ],
  },
  ports: {
    why: ["The proxy listens here.", "프록시가 여기서 접속을 받습니다."],
    free: (address: string) => [`${address} is free`, `${address} 비어 있음`],
    ours: (address: string) => [`${address} is ours`, `${address} Owl이 사용 중`],
    taken: (address: string, holder: string) => [
      `${address} is taken by ${holder}`,
      `${address}을(를) ${holder}이(가) 사용 중`,
    ],
    denied: (address: string) => [
      `${address} needs root below 1024; use owl.socket (owlctl install)`,
      `${address}: 1024 미만은 root가 필요함; owl.socket을 쓰세요(owlctl install)`,
    ],
  },
  directories: {
    why: [
      "Owl alone may write here: sockets, state and secrets.",
      "소켓, 상태, 비밀이 있으므로 Owl만 쓸 수 있어야 합니다.",
    ],
    missing: (path: string) => [`${path} is not there`, `${path} 없음`],
    found: (path: string, owner: string, mode: string) => [
      `${path}: owner ${owner}, mode ${mode}`,
      `${path}: 소유자 ${owner}, 모드 ${mode}`,
    ],
  },
  unit: {
    why: [
      "systemd kills owld when a stop takes longer, and leaves its services without anyone.",
      "멈추는 데 더 오래 걸리면 systemd가 owld를 강제 종료하고 서비스가 주인 없이 남습니다.",
    ],
    found: (timeout: string, needed: string) => [
      `TimeoutStopSec ${timeout}, an orderly stop may take ${needed}`,
      `TimeoutStopSec ${timeout}, 정상 종료에 필요한 최대 시간 ${needed}`,
    ],
  },
  limits: {
    why: [
      "Without control groups nothing bounds the processor time and memory of these services but memory.limit.",
      "컨트롤 그룹이 없으면 이 서비스들의 프로세서 시간과 메모리를 제한하는 것은 memory.limit뿐입니다.",
    ],
    found: (services: string) => [
      `the kernel bounds each instance of ${services}`,
      `커널이 ${services}의 인스턴스마다 제한을 겁니다`,
    ],
    unfit: (why: Unfit | { readonly code: string }) =>
      why === "noVersion2"
        ? ["this machine has no cgroup v2 at /sys/fs/cgroup", "이 시스템의 /sys/fs/cgroup에 cgroup v2가 없음"]
        : why === "notDelegated"
          ? [
              "owld's unit does not delegate its control group: it needs Delegate=cpu memory and DelegateSubgroup=owld (systemd 254 or newer), which owlctl install writes",
              "owld의 유닛이 컨트롤 그룹을 위임하지 않음: Delegate=cpu memory와 DelegateSubgroup=owld가 필요하며(systemd 254 이상) owlctl install이 써 줍니다",
            ]
          : [`the kernel refused (${why.code})`, `커널이 거부함(${why.code})`],
  },
  endpoints: {
    why: {
      model: ["Chat turns are answered by it.", "채팅 턴에 답하는 곳입니다."],
      transcriber: ["Recordings are transcribed by it.", "녹음을 글로 옮기는 곳입니다."],
      "sign-in": ["People sign in through it (auth.oidc).", "사람들이 이곳을 거쳐 로그인합니다(auth.oidc)."],
    },
    late: (boundMs: number) => [`no answer within ${boundMs} ms`, `${boundMs} ms 안에 답이 없음`],
    notInPath: ["not found in PATH", "PATH에 없음"],
    silent: (what: string, error: string) => [`${what} does not answer: ${error}`, `${what} 응답 없음: ${error}`],
    unfit: (what: string, error: string) => [`${what} cannot be used: ${error}`, `${what} 쓸 수 없음: ${error}`],
    program: (what: string) => [`${what} is there`, `${what} 있음`],
    answers: (what: string, status: number, refused: boolean) => [
      `${what} answers ${status}${refused ? ": the key is refused" : ""}`,
      `${what} 응답 ${status}${refused ? ": 키가 거부됨" : ""}`,
    ],
  },
} satisfies Catalogue;
