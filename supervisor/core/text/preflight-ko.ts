// Preflight's words in Korean. Pure.

import type { preflightEn } from "./preflight-en.ts";

export const preflightKo: typeof preflightEn = {
  unknown: (what) => `${what}을(를) 읽을 수 없음`,
  slow: {
    why: "재시작은 점검을 더 기다리지 않습니다. 직접 점검해 보십시오.",
    found: (bound) => `점검이 ${bound} 안에 끝나지 않음`,
  },
  configuration: {
    why: "잘못된 설정은 다음 reload나 시작에서 거부됩니다.",
    warningWhy: "받아들여지지만 의도와 다를 수 있습니다.",
    valid: (file) => `${file ?? "owl.yaml 없음: 기본값"}, 유효함`,
  },
  turnBudget: {
    why: "멈추라는 신호를 받은 턴은 유예 시간 안에 마무리해야 하며, 아니면 끊깁니다.",
    found: (finish, wrapUp, grace) => `finish ${finish} + wrapUp ${wrapUp}, 유예 ${grace}`,
  },
  turnLength: {
    why: "turn.finish보다 긴 턴은 워커를 교체할 때 일찍 마무리됩니다.",
    unmeasured: "판단하기에는 답변된 턴이 너무 적음",
    found: (p95, finish) => `턴 100개 중 95개가 ${p95} 안에 끝남; turn.finish는 ${finish}`,
  },
  commands: {
    why: "감싸는 프로그램이 SIGTERM을 삼키면 실제 프로그램은 정리하지 못하고 유예 뒤에 강제 종료됩니다.",
    direct: "모든 서비스를 직접 시작함",
    edit: "$EDITOR owl.yaml && owlctl reload",
    found: (service, wrapper) => `services.${service}을(를) ${wrapper}로 시작함`,
    fixShell: (service, script) => `services.${service}.command를 목록으로 쓰거나 [sh, -c, "exec ${script}"]로 쓰세요.`,
    fixRunner: (service, script) =>
      script === null
        ? `services.${service}.command에 실제 프로그램을 쓰세요.`
        : `실제 스크립트: ${script}. 이것을 services.${service}.command에 목록으로 쓰세요.`,
  },
  database: {
    why: "없으면 턴을 받거나 끝낼 수 없고 마이그레이션도 할 수 없습니다.",
    down: "실행 중이 아님",
    silent: (kind, reason) => `PostgreSQL(${kind === "managed" ? "Owl 관리" : "외부"})이 응답하지 않음: ${reason}`,
    answers: (kind, version, max) =>
      `PostgreSQL ${version}(${kind === "managed" ? "Owl 관리" : "외부"}) 응답함, max_connections ${max}`,
  },
  connections: {
    why: {
      ok: "교체 중에도 모든 인스턴스가 선언한 만큼 연결할 수 있습니다.",
      warn: "교체 중의 합이 한도를 넘습니다: 동시에 교체하는 수를 줄이고, 줄일 수 없으면 시작 전에 거부합니다.",
      fail: "평상시의 합도 한도를 넘습니다: 교체나 업데이트는 어떤 프로세스도 건드리지 않습니다.",
    },
    strangersWhy: "다른 프로그램의 연결도 같은 한도를 씁니다.",
    sums: (steady, surge, limit) => `선언: 평상시 ${steady}, 교체 중 ${surge}; 서버 한도 ${limit ?? "?"}`,
    strangers: (count, names) => `Owl의 것이 아닌 연결 ${count}개: ${names}`,
  },
  migrations: {
    why: "호환되는 것은 이전 코드와 함께 실행되고, 호환되지 않는 것은 워커와 웹을 멈춰야 합니다.",
    none: "대기 중인 것 없음",
    pending: (names, compatible) => `대기 중(${compatible ? "호환" : "비호환"}): ${names}`,
  },
  dump: {
    why: "호환되지 않는 마이그레이션이 있는 업데이트는 되돌릴 수 있도록 데이터베이스를 먼저 복사합니다.",
    managed: "필요 없음: Owl이 관리하는 데이터베이스는 파일로 복사함",
    missing: "pg_dump를 찾을 수 없음",
    found: (path, own, server) => `${path}, 버전 ${own}; 서버 ${server}`,
  },
  disk: {
    why: {
      release: "다음 릴리스는 지금 것 옆에 풀립니다.",
      dump: "업데이트가 데이터베이스 전체를 복사할 수 있습니다.",
      logs: "인스턴스 로그와 상태 파일이 여기에 쌓이며, 디스크가 차면 교체가 멈춥니다.",
    },
    found: (path, free, needed) => `${path}: 여유 ${free}, 필요 ${needed}`,
  },
  memory: {
    why: "교체 중에는 인스턴스가 하나 더 실행되며, 자리가 없으면 시작하지 않습니다.",
    unmeasured: (available) => `사용 가능 ${available}; 아직 측정된 인스턴스 없음`,
    found: (available, needed) => `사용 가능 ${available}, 가장 큰 인스턴스에 필요한 양 ${needed}`,
  },
  descriptors: {
    why: "프록시 연결 하나에 둘이 필요하고, 한도를 넘으면 접속이 거부됩니다.",
    found: (limit, needed) => `한도 ${limit}, 필요 ${needed}`,
  },
  clock: {
    why: "세션, 기록, TLS가 이 시계를 따릅니다.",
    found: (now) => `${now}`,
    behind: (now, newest) => `${now}: 설치된 가장 새 파일(${newest})보다 이전임`,
  },
  ports: {
    why: "프록시가 여기서 접속을 받습니다.",
    free: (address) => `${address} 비어 있음`,
    ours: (address) => `${address} Owl이 사용 중`,
    taken: (address, holder) => `${address}을(를) ${holder}이(가) 사용 중`,
    denied: (address) => `${address}: 1024 미만은 root가 필요함; owl.socket을 쓰세요(owlctl install)`,
  },
  directories: {
    why: "소켓, 상태, 비밀이 있으므로 Owl만 쓸 수 있어야 합니다.",
    missing: (path) => `${path} 없음`,
    found: (path, owner, mode) => `${path}: 소유자 ${owner}, 모드 ${mode}`,
  },
  unit: {
    why: "멈추는 데 더 오래 걸리면 systemd가 owld를 강제 종료하고 서비스가 주인 없이 남습니다.",
    found: (timeout, needed) => `TimeoutStopSec ${timeout}, 정상 종료에 필요한 최대 시간 ${needed}`,
  },
  endpoints: {
    why: { model: "채팅 턴에 답하는 곳입니다.", transcriber: "녹음을 글로 옮기는 곳입니다." },
    late: (boundMs) => `${boundMs} ms 안에 답이 없음`,
    notInPath: "PATH에 없음",
    silent: (what, error) => `${what} 응답 없음: ${error}`,
    program: (what) => `${what} 있음`,
    answers: (what, status, refused) => `${what} 응답 ${status}${refused ? ": 키가 거부됨" : ""}`,
  },
};
