// What owld writes down (events, causes, reasons), once, in the installation's language: a record has many readers, and one
// that changed its language with each of them could not be searched or compared. Pure.

import type { Catalogue } from "../../../config/text.ts";
import { recordedDeploys, recordedRuns, recordedSchedules } from "./deploy-words.ts";

const KINDS: Readonly<Record<string, string>> = {
  restart: "재시작",
  update: "업데이트",
  rollback: "되돌리기",
  deploy: "배포",
};

export const recordedWords = {
  backup: {
    finished: (id: string) => [`Backup ${id} is taken.`, `백업 ${id}을(를) 만들었습니다.`],
    recovered: ["Backups go on.", "백업이 다시 이어집니다."],
    drilled: (id: string, seconds: number) => [
      `Backup ${id} was restored and served a signed-in page after ${seconds} s.`,
      `백업 ${id}을(를) 복원해 ${seconds}초 만에 로그인한 페이지까지 확인했습니다.`,
    ],
    drillFailed: (why: string) => [`The drill failed: ${why}`, `복원 훈련이 실패했습니다: ${why}`],
  },
  reloaded: (notes: readonly string[]) => [
    notes.length === 0
      ? "The configuration is read again: nothing differs."
      : `The configuration is read again. ${notes.join(" ")}`,
    notes.length === 0 ? "설정을 다시 읽었습니다. 달라진 것이 없습니다." : `설정을 다시 읽었습니다. ${notes.join(" ")}`,
  ],
  stopped: (service: string) => [`An operator stops ${service}.`, `운영자가 ${service}을(를) 멈춥니다.`],
  nothingToCancel: (rollout: string) => [`There is no rollout ${rollout}.`, `${rollout} 교체 작업이 없습니다.`],
  cancelledTooLate: (rollout: string, state: "succeeded" | "failed") => [
    `${rollout} had ended before: it ${state}.`,
    `${rollout} 교체 작업은 이미 끝났습니다(${state === "succeeded" ? "성공" : "실패"}).`,
  ],
  certificate: {
    issued: (names: string, until: string) => [
      `The certificate for ${names} is issued and in use; it holds until ${until}.`,
      `${names}의 인증서를 받아 쓰기 시작했습니다. ${until}까지 유효합니다.`,
    ],
    failed: (names: string, why: string, next: string) => [
      `The certificate for ${names} was not issued: ${why}. What served before serves on. Next try: ${next}`,
      `${names}의 인증서를 받지 못했습니다: ${why}. 쓰던 인증서를 계속 씁니다. 다음 시도: ${next}`,
    ],
  },
  stopping: ["owld stops everything in order.", "owld가 모두 차례로 멈춥니다."],
  exit: {
    unknown: [
      "exit code not known: it was started by an earlier owld",
      "종료 코드를 알 수 없음: 이전의 owld가 시작했음",
    ],
    outOfMemory: (signal: string) => [`${signal}, likely for want of memory`, `${signal}, 메모리 부족으로 보임`],
    noProcess: ["no process", "프로세스 없음"],
    code: (code: number | null) => [`exit code ${code}`, `종료 코드 ${code}`],
  },

  /** Why an instance goes or is replaced: the end of a sentence. */
  cause: {
    byOperator: ["stopped by an operator", "운영자가 멈춤"],
    killedByOperator: ["killed by an operator", "운영자가 강제 종료함"],
    owldStops: ["owld stops", "owld가 멈춤"],
    serviceGone: ["its service is gone from the configuration", "서비스가 설정에서 없어짐"],
    count: (service: string, wanted: number) => [
      `${service} is scaled to ${wanted}`,
      `${service}의 인스턴스를 ${wanted}개로 맞춤`,
    ],
    configuration: ["its configuration changed", "설정이 바뀜"],
    code: ["its code changed", "코드가 바뀜"],
    notNeeded: (id: string) => [`${id} stays after all`, `${id}을(를) 그대로 둠`],
    hung: ["it does not answer", "응답이 없음"],
    unreached: ["it cannot be reached any more", "더 연결할 수 없음"],
    rollout: (rollout: string) => [`rollout ${rollout}`, `롤아웃 ${rollout}`],
    rolloutFailed: ["the rollout failed over it", "이것 때문에 롤아웃이 실패함"],
    replaced: ["another Owl runs in its place", "다른 Owl이 대신 실행 중임"],
    secondSignal: ["a second signal asked for it", "두 번째 시그널을 받음"],
    grace: (seconds: number) => [`its grace of ${seconds} s is over`, `유예 시간 ${seconds}초가 지남`],
    unhealthy: (seconds: number) => [`unhealthy for ${seconds} s`, `${seconds}초 동안 비정상`],
    memory: (used: string, limit: string) => [
      `it uses ${used}, over its limit of ${limit}`,
      `메모리 ${used} 사용, 한도 ${limit} 초과`,
    ],
    silent: (seconds: number) => [
      `no heartbeat for ${seconds} s while its process lives`,
      `프로세스는 살아 있으나 ${seconds}초 동안 심장 박동이 없음`,
    ],
    takenBack: (old: string) => [`${old} stays in its place`, `${old}이(가) 그 자리를 지킴`],
    unreachable: ["it was found without a record of where it listens", "어디에서 접속을 받는지 기록이 없음"],
  },
  instance: {
    starting: (id: string) => [`${id} is started.`, `${id}을(를) 시작합니다.`],
    crashed: (id: string, how: string, next: string) => [
      `${id} ended unasked (${how}); ${next}.`,
      `${id}이(가) 스스로 종료되었습니다(${how}). ${next}.`,
    ],
    notStarted: (id: string, how: string, next: string) => [
      `${id} did not start: ${how}; ${next}.`,
      `${id}이(가) 시작되지 않았습니다: ${how}. ${next}.`,
    ],
    restartedAtOnce: (why: string) => [`restarted at once (${why})`, `바로 다시 시작함(${why})`],
    restartedIn: (seconds: number, why: string) => [
      `restarted in ${seconds} s (${why})`,
      `${seconds}초 뒤 다시 시작함(${why})`,
    ],
    crashes: (count: number) => [`${count} times within 60 s in this place`, `이 자리에서 60초 안에 ${count}번`],
    attempt: (count: number) => [`try ${count} in a row`, `연속 ${count}번째 시도`],
    crashLooping: (service: string, message: string) => [
      `${service} is crash-looping: ${message}`,
      `${service}이(가) 반복해서 죽습니다. ${message}`,
    ],
    stopped: (id: string, cause: string | null, exit: string) => [
      `${id} has stopped (${cause ?? "asked to"}; ${exit}).`,
      `${id}이(가) 멈췄습니다(${cause ?? "요청됨"}; ${exit}).`,
    ],
    killed: (id: string, cause: string | null, exit: string) => [
      `${id} was killed (${cause ?? "asked to"}; ${exit}).`,
      `${id}이(가) 강제 종료되었습니다(${cause ?? "요청됨"}; ${exit}).`,
    ],
    routed: (id: string) => [`${id} gets requests.`, `${id}이(가) 요청을 받습니다.`],
    late: (id: string, seconds: number, check: string | null) => [
      `${id} was not ready within ${seconds} s${check === null ? "" : `: ${check}`}.`,
      `${id}이(가) ${seconds}초 안에 준비되지 않았습니다${check === null ? "" : `: ${check}`}.`,
    ],
    ready: (id: string) => [`${id} is ready.`, `${id}이(가) 준비되었습니다.`],
    failing: (id: string, why: string) => [
      `${id} failed its checks: ${why}.`,
      `${id}이(가) 점검에 실패했습니다: ${why}.`,
    ],
    aside: (id: string, seconds: number) => [
      `${id} gets no new requests and lives on until its successor has stood ${seconds} s.`,
      `${id}에 새 요청을 보내지 않고, 후속 인스턴스가 ${seconds}초를 버틸 때까지 살려 둡니다.`,
    ],
    back: (id: string) => [`${id} gets requests again.`, `${id}에 다시 요청을 보냅니다.`],
    leaving: (id: string, cause: string) => [`${id} is taken out: ${cause}.`, `${id}을(를) 뺍니다: ${cause}.`],
    draining: (id: string, signal: string, seconds: number) => [
      `${id} got ${signal} and has ${seconds} s.`,
      `${id}에 ${signal}을(를) 보냈습니다. 유예 시간은 ${seconds}초입니다.`,
    ],
    killing: (id: string, cause: string) => [`${id} is killed: ${cause}.`, `${id}을(를) 강제 종료합니다: ${cause}.`],
    replaced: (id: string, cause: string) => [`${id} is replaced: ${cause}.`, `${id}을(를) 교체합니다: ${cause}.`],
    hung: (id: string, cause: string) => [
      `${id} hangs (${cause}) and is replaced.`,
      `${id}이(가) 응답하지 않아(${cause}) 교체합니다.`,
    ],
    adopted: (id: string, pid: number) => [`${id} (pid ${pid}) is adopted.`, `${id}(pid ${pid})을(를) 이어받았습니다.`],
    adoptedByMark: (id: string, pid: number) => [
      `${id} (pid ${pid}) had no record and is adopted by its mark.`,
      `${id}(pid ${pid})은(는) 기록이 없어 표시로 알아보고 이어받았습니다.`,
    ],
    logDropped: (id: string, size: string) => [
      `${size} of the oldest lines in the log of ${id} were let go: it grew faster than it is kept, or the disk is full.`,
      `${id}의 로그에서 가장 오래된 ${size}을(를) 버렸습니다. 보관하는 것보다 빨리 늘어나거나 디스크가 찼습니다.`,
    ],
    leftOver: (id: string, pid: number, command: string) => [
      `${id} is gone but left process ${pid} (${command}) behind.`,
      `${id}은(는) 끝났지만 프로세스 ${pid}(${command})을(를) 남겼습니다.`,
    ],
  },
  deploy: recordedDeploys,
  run: recordedRuns,
  schedule: recordedSchedules,
  definition: {
    inForce: ["owl.yaml is in force again.", "owl.yaml이 다시 적용되었습니다."],
    notInForce: (reason: string) => [
      `owl.yaml is not in force: ${reason}`,
      `owl.yaml이 적용되지 않았습니다: ${reason}`,
    ],
    didNotStand: (rollout: string, reason: string | null) => [
      reason === null ? `${rollout} did not succeed.` : `${rollout} did not succeed: ${reason}`,
      `${rollout}이(가) 성공하지 못했습니다${reason === null ? "." : `: ${reason}`}`,
    ],
    fellApart: (rollout: string, service: string, how: string) => [
      `${rollout} had stood, then every instance of ${service} ended by itself (${how}): what held before is put back.`,
      `${rollout}이(가) 적용된 뒤 ${service}의 모든 인스턴스가 스스로 종료되어(${how}) 이전 상태로 되돌립니다.`,
    ],
  },
  rollout: {
    started: (id: string, kind: string, instances: number) => [
      `${id} (${kind}) replaces ${instances} instances.`,
      `${id}(${KINDS[kind] ?? kind})이(가) 인스턴스 ${instances}개를 교체합니다.`,
    ],
    begun: (id: string, kind: string) => [`${id} (${kind}) begins.`, `${id}(${KINDS[kind] ?? kind})을(를) 시작합니다.`],
    cancelling: (id: string) => [`${id} ends after its current step.`, `${id}은(는) 지금 단계가 끝나면 끝납니다.`],
    succeeded: (id: string) => [`${id} has succeeded.`, `${id}이(가) 성공했습니다.`],
    failed: (id: string) => [`${id} has failed.`, `${id}이(가) 실패했습니다.`],
    cancelled: (id: string) => [`${id} was cancelled.`, `${id}이(가) 취소되었습니다.`],
    notReady: (id: string) => [`${id} did not become ready.`, `${id}이(가) 준비되지 않았습니다.`],
    endedEarly: (id: string, how: string) => [
      `${id} ended before it was ready (${how}).`,
      `${id}이(가) 준비되기 전에 종료되었습니다(${how}).`,
    ],
    exitCode: (code: number | null) => [`exit code ${code ?? "unknown"}`, `종료 코드 ${code ?? "알 수 없음"}`],
    worseErrors: (percent: number, answers: number, before: number) => [
      `${percent} % of ${answers} answers of the new instances are 5xx, of the old ones' ${before} %.`,
      `새 인스턴스의 응답 ${answers}건 중 ${percent}%가 5xx이며, 기존 인스턴스는 ${before}%였습니다.`,
    ],
    worseTime: (ms: number, before: number) => [
      `the new instances answer in ${ms} ms at the 95th percentile, the old ones in ${before} ms.`,
      `새 인스턴스의 95번째 백분위 응답 시간이 ${ms}ms이며, 기존은 ${before}ms였습니다.`,
    ],
    worseSilent: (ms: number, before: number) => [
      `the new instances have answered nobody for ${ms} ms, the old ones answered in ${before} ms at the 95th percentile.`,
      `새 인스턴스가 ${ms}ms 동안 아무에게도 응답하지 않았습니다. 기존의 95번째 백분위 응답 시간은 ${before}ms였습니다.`,
    ],
    confirms: (seconds: number) => [
      `The new instances must stand ${seconds} s before the old ones end; until then these can come back.`,
      `새 인스턴스가 ${seconds}초를 버텨야 기존 인스턴스를 끝내며, 그 전까지는 되돌릴 수 있습니다.`,
    ],
    unhealthyNew: (id: string) => [`${id} failed its health checks.`, `${id}이(가) 상태 검사에 실패했습니다.`],
    exitedNew: (id: string, how: string, seconds: number) => [
      `${id} ended ${seconds} s after it was ready (${how}).`,
      `${id}이(가) 준비된 뒤 ${seconds}초 만에 끝났습니다(${how}).`,
    ],
    exitUnknown: ["exit code not known", "종료 코드를 알 수 없음"],
    lastLines: ["Its last lines:", "로그의 마지막 줄:"],
    stillDraining: (ids: string) => [
      `Still draining, each within its grace: ${ids}.`,
      `아직 유예 시간 안에서 비우는 중: ${ids}.`,
    ],
    noneReplaced: ["No instance was replaced.", "교체된 인스턴스가 없습니다."],
    left: (fresh: string, old: string) => [
      `New: ${fresh || "none"}. Old: ${old || "none"}. Go on with: owlctl restart`,
      `새것: ${fresh || "없음"}. 옛것: ${old || "없음"}. 계속하기: owlctl restart`,
    ],
  },
  update: {
    begins: (step: string) => [`${step} begins`, `${step} 시작`],
    done: (step: string) => [`${step} is done`, `${step} 완료`],
    cancelled: ["It was cancelled.", "취소되었습니다."],
    neverBegan: ["owld was stopped before it had begun.", "시작하기 전에 owld가 멈췄습니다."],
    resumed: (id: string, step: string | null) => [
      `${id} goes on with ${step ?? "its end"}.`,
      `${id}을(를) ${step ?? "마무리"}부터 계속합니다.`,
    ],
    backFailed: (failure: string, why: string) => [
      `${failure} The way back failed too: ${why}`,
      `${failure} 되돌리기도 실패했습니다: ${why}`,
    ],
    back: (failure: string, version: string) => [
      `${failure} Rolled back to ${version}.`,
      `${failure} ${version}(으)로 되돌렸습니다.`,
    ],
    reading: (source: string) => [`reading ${source}`, `${source} 읽는 중`],
    overlap: ["old and new workers may overlap", "옛 워커와 새 워커를 함께 둘 수 있음"],
    drainFirst: ["workers drain first", "워커를 먼저 비움"],
    askedToStop: (ids: string) => [`asked to stop: ${ids}`, `멈추라고 요청함: ${ids}`],
    waitingFor: (instances: string) => [`waiting for ${instances}`, `기다리는 중: ${instances}`],
    graceLeft: (id: string, seconds: number, grace: number) => [
      `${id} (${seconds} s of ${grace} s)`,
      `${id}(${grace}초 중 ${seconds}초)`,
    ],
    starting: (version: string) => [`starting ${version}`, `${version} 시작하는 중`],
    waitingAlone: (version: string) => [
      `waiting until ${version} serves alone`,
      `${version}만 서비스할 때까지 기다리는 중`,
    ],
    watching: (version: string, seconds: number) => [
      `watching ${version} for ${seconds} s`,
      `${version}을(를) ${seconds}초 동안 지켜보는 중`,
    ],
    removed: (versions: string) => [`removed: ${versions}`, `지움: ${versions}`],
    endedByItself: (id: string, how: string) => [
      `${id} ended by itself (${how}).`,
      `${id}이(가) 스스로 종료되었습니다(${how}).`,
    ],
    bad: (id: string, cause: string | null) => [
      `${id} ${cause ?? "did not become ready in time"}.`,
      `${id}: ${cause ?? "제때 준비되지 않음"}.`,
    ],
    notAllReady: ["not every instance stayed ready.", "모든 인스턴스가 준비된 상태를 유지하지는 못했습니다."],
    silent: (id: string) => [`${id} gives no sign of life.`, `${id}의 심장 박동이 없습니다.`],
    trialBegins: (version: string) => [
      `owld ${version} starts; not up by its third start, the one before it comes back`,
      `owld ${version} 시작; 세 번 안에 올라오지 못하면 이전 owld로 되돌아감`,
    ],
    trialFailed: (version: string, ends: string) => [
      `The owld of ${version} did not come up: ${ends}.`,
      `${version}의 owld가 올라오지 못했습니다: ${ends}.`,
    ],
    notThroughCurrent: (version: string) => [
      `owld was started again as ${version}, not through current: the new one was not tried`,
      `owld가 current를 거치지 않고 ${version}(으)로 다시 시작되어 새 owld는 시험되지 않음`,
    ],
    copyKept: (copy: string) => [
      `The copy of the database from before the update stays at ${copy}.`,
      `업데이트 전 데이터베이스의 복사본을 ${copy}에 남겨 둡니다.`,
    ],
    offered: (version: string) => [
      `Release ${version} from incoming/ is offered.`,
      `incoming/에 있던 릴리스 ${version}을(를) 제공합니다.`,
    ],
    proxyRenewed: ["The proxy's code changed: it is replaced.", "프록시의 코드가 바뀌어 프록시를 교체합니다."],
  },
} satisfies Catalogue;
