// What owlctl's commands say, in their help and when they run.

import type { Catalogue } from "../../config/text.ts";
import { deployWords } from "./deploy-words.ts";
import { scheduleWords } from "./schedule-words.ts";

export const commandWords = {
  status: {
    about: [
      "services, instances, proxy, connections, workers, rollout",
      "서비스, 인스턴스, 프록시, 연결, 워커, 롤아웃",
    ],
    watch: ["a live view (Ctrl-C ends it)", "실시간 보기(Ctrl-C로 끝냄)"],
  },
  why: {
    about: [
      "why a service or an instance is as it is, on one screen",
      "서비스나 인스턴스가 왜 지금 상태인지 한 화면으로",
    ],
  },
  logs: {
    about: ["logs of instances", "인스턴스의 로그"],
    follow: ["go on with new lines", "새 줄을 계속 보여 줌"],
    lines: ["the last N lines (default 50)", "마지막 N줄(기본 50)"],
    tail: ["the same as --lines", "--lines와 같음"],
    since: ["lines of the last 10m, 2h, ...", "최근 10m, 2h, ...의 줄"],
    grep: ["only lines that match", "정규식에 맞는 줄만"],
    request: [
      "only what one request set going, in proxy, web and worker: the id of its X-Request-Id answer header",
      "한 요청이 프록시, 웹, 워커에서 일으킨 일만: 응답 헤더 X-Request-Id의 값",
    ],
  },
  events: {
    about: ["every change of state", "모든 상태 변화"],
    follow: ["go on with new events", "새 이벤트를 계속 보여 줌"],
    lines: ["the last N events (default 100)", "마지막 N개(기본 100)"],
    since: ["events of the last 10m, 2h, ...", "최근 10m, 2h, ...의 이벤트"],
  },
  restart: {
    about: [
      "replace instances one by one, new first, without losing a request",
      "요청을 하나도 잃지 않고 인스턴스를 새것부터 하나씩 교체",
    ],
    service: ["services to restart (default: all)", "다시 시작할 서비스(기본: 모두)"],
    all: [
      "also those that the last rollout, which did not succeed, already replaced",
      "성공하지 못한 지난 롤아웃이 이미 바꾼 것까지 모두",
    ],
    plan: [
      "only show the steps, the time and the peaks (exit 10: there are changes)",
      "단계, 시간, 최대치만 보여 줌(종료 코드 10: 바뀔 것이 있음)",
    ],
    wait: [
      "serving: until every new instance is routed; drained: until every old one has ended",
      "serving: 새 인스턴스가 모두 연결될 때까지; drained: 옛 인스턴스가 모두 끝날 때까지",
    ],
  },
  rollout: {
    about: ["the record of rollouts, and the one that runs", "롤아웃의 기록과 지금 진행 중인 것"],
    list: ["rollouts, newest first", "롤아웃, 최신 순"],
    number: ["at most so many, up to 200 (default: 50)", "최대 개수, 200까지 (기본 50)"],
    show: ["one rollout with its steps", "롤아웃 하나와 그 단계"],
    watch: ["watch a rollout to its end", "롤아웃을 끝까지 지켜봄"],
    cancel: ["end a rollout after its current step", "지금 단계가 끝나면 롤아웃을 끝냄"],
    id: ["id of a rollout (r-12)", "롤아웃 id(r-12)"],
    idOrRunning: ["id of a rollout (default: the one that runs)", "롤아웃 id(기본: 진행 중인 것)"],
  },
  reload: {
    about: ["read the configuration again; only what changed is replaced", "설정을 다시 읽음; 바뀐 것만 교체됨"],
  },
  scale: {
    about: ["change the number of instances", "인스턴스 수를 바꿈"],
    pairs: ["web=3 worker=2", "web=3 worker=2"],
  },
  start: { about: ["start a stopped service or instance", "멈춘 서비스나 인스턴스를 시작"] },
  kill: {
    about: ["SIGKILL an instance and its whole process group, now", "인스턴스와 그 프로세스 그룹 전체를 지금 SIGKILL"],
    instance: ["an instance (web-7)", "인스턴스(web-7)"],
    costRequests: (n: number) => [`${n} request(s) in flight will fail.`, `처리 중인 요청 ${n}개가 실패합니다.`],
    costJobs: (jobs: string) => [`Running jobs will be cut: ${jobs}.`, `실행 중인 작업이 끊깁니다: ${jobs}.`],
    confirm: (instance: string) => [
      `Kill ${instance} without its grace?`,
      `${instance}을(를) 유예 시간 없이 죽일까요?`,
    ],
    kept: ["Nothing was killed.", "아무것도 죽이지 않았습니다."],
    done: (instance: string) => [`${instance} killed.`, `${instance}을(를) 죽였습니다.`],
  },
  reexec: {
    about: [
      "put the supervisor itself on new code; everything else runs on",
      "슈퍼바이저 자신만 새 코드로 바꿈; 나머지는 계속 돎",
    ],
    done: (before: number, after: number, version: string) => [
      `owld is back: pid ${before} is now ${after}, version ${version}.`,
      `owld가 돌아왔습니다: pid ${before} → ${after}, 버전 ${version}.`,
    ],
    notBack: ["owld has not come back yet.", "owld가 아직 돌아오지 않았습니다."],
    notBackNext: ["Look at it: owlctl status, or journalctl -u owl", "확인: owlctl status 또는 journalctl -u owl"],
  },
  install: {
    about: [
      "install Owl as a systemd service: users, directories, this code, units; starts it (needs root)",
      "Owl을 systemd 서비스로 설치: 사용자, 디렉터리, 이 코드, 유닛; 시작까지 함(root 필요)",
    ],
    dryRun: ["only show every step and file", "모든 단계와 파일을 보여 주기만 함"],
    noStart: ["install without starting", "시작하지 않고 설치만 함"],
    needsRoot: [
      "owlctl install changes the system: it needs root.",
      "owlctl install은 시스템을 바꾸므로 root가 필요합니다.",
    ],
    needsRootNext: [
      "sudo owlctl install, or look first: owlctl install --dry-run",
      "sudo owlctl install, 또는 먼저 보기: owlctl install --dry-run",
    ],
    noSystemd: ["This machine was not booted by systemd.", "이 컴퓨터는 systemd로 부팅되지 않았습니다."],
    noSystemdNext: ["Run Owl in the foreground instead: npm start", "대신 포그라운드로 실행하세요: npm start"],
    copies: (from: string, to: string) => [
      `copy the code from ${from} to ${to}`,
      `코드를 ${from}에서 ${to}(으)로 복사`,
    ],
    writes: (path: string) => [`write ${path}`, `${path} 쓰기`],
    keeps: (path: string) => [`keep ${path} as it is`, `${path}은(는) 그대로 둠`],
    links: (path: string, to: string) => [`link ${path} -> ${to}`, `링크 ${path} -> ${to}`],
    removes: (path: string) => [`remove ${path}`, `${path} 지우기`],
    runs: (command: string) => [`run ${command}`, `실행: ${command}`],
    done: (url: string) => [`Owl is installed and runs at ${url}.`, `Owl이 설치되어 ${url}에서 실행 중입니다.`],
    installed: ["Owl is installed. Start it: systemctl start owl", "Owl이 설치되었습니다. 시작: systemctl start owl"],
    running: ["Owl runs already, on the code it was started with.", "Owl은 이미 시작할 때의 코드로 실행 중입니다."],
    runningNext: [
      "Put it on this code: owlctl daemon-reexec && owlctl restart",
      "이 코드로 바꾸기: owlctl daemon-reexec && owlctl restart",
    ],
    password: (path: string) => [
      `The first administrator's (admin) one-time password: sudo cat ${path}`,
      `첫 관리자(admin)의 일회용 비밀번호: sudo cat ${path}`,
    ],
    stepFailed: (command: string, why: string) => [`${command} failed: ${why}`, `${command} 실패: ${why}`],
    stepNext: [
      "What was done is kept; run owlctl install again when it is resolved.",
      "여기까지 한 것은 남아 있습니다. 해결한 뒤 owlctl install을 다시 실행하세요.",
    ],
  },
  uninstall: {
    about: [
      "stop Owl and remove its units and code; data and configuration stay unless --purge (needs root)",
      "Owl을 멈추고 유닛과 코드를 지움; 데이터와 설정은 --purge 없이는 남음(root 필요)",
    ],
    purge: [
      "also remove the database, uploads, logs, configuration and users",
      "데이터베이스, 업로드, 로그, 설정, 사용자도 지움",
    ],
    needsRoot: [
      "owlctl uninstall changes the system: it needs root.",
      "owlctl uninstall은 시스템을 바꾸므로 root가 필요합니다.",
    ],
    confirm: ["This stops Owl and removes all its data. Go on?", "Owl을 멈추고 모든 데이터를 지웁니다. 계속할까요?"],
    refused: [
      "Nothing was removed: --purge needs --yes where nobody can be asked.",
      "아무것도 지우지 않았습니다: 물어볼 수 없는 곳에서 --purge는 --yes가 필요합니다.",
    ],
    stopping: [
      "Stopping Owl in order; running work gets its whole grace.",
      "Owl을 차례로 멈추는 중; 실행 중인 작업은 유예 시간을 모두 씁니다.",
    ],
    kept: (paths: string) => [
      `Kept: ${paths}. Remove them too: owlctl uninstall --purge`,
      `남겨 둔 것: ${paths}. 함께 지우기: owlctl uninstall --purge`,
    ],
    done: ["Owl is uninstalled.", "Owl이 제거되었습니다."],
    nothing: ["Owl is not installed here.", "여기에는 Owl이 설치되어 있지 않습니다."],
  },
  preflight: {
    about: [
      "check everything an update or restart needs; reads only",
      "업데이트나 재시작에 필요한 것을 모두 점검; 읽기만 함",
    ],
    sum: (ok: number, warn: number, fail: number) => [
      `${ok} OK, ${warn} WARN, ${fail} FAIL`,
      `OK ${ok}, WARN ${warn}, FAIL ${fail}`,
    ],
  },
  config: {
    stopChain: (drain: string, grace: string, margin: string, total: string) => [
      `    An orderly stop may take ${total}: proxy.drainTimeout ${drain} + the largest grace ${grace} + ${margin}. TimeoutStopSec of owl.service must not be below that (owlctl install writes it).`,
      `    정상 종료에는 최대 ${total}이 걸립니다: proxy.drainTimeout ${drain} + 가장 긴 유예 시간 ${grace} + ${margin}. owl.service의 TimeoutStopSec이 이보다 짧으면 안 됩니다(owlctl install이 맞게 씁니다).`,
    ],
    missing: (service: string, key: string, path: string) => [
      `services.${service}.${key}: ${path} is not there or cannot be executed`,
      `services.${service}.${key}: ${path}이(가) 없거나 실행할 수 없습니다`,
    ],
    about: ["check, show, describe the configuration", "설정의 점검, 보기, 설명"],
    check: ["check a configuration without using it", "설정을 쓰지 않고 점검만 함"],
    show: ["the whole configuration with defaults, secrets hidden", "기본값을 포함한 설정 전체(비밀은 가림)"],
    schema: ["JSON Schema of owl.yaml, for editors", "편집기를 위한 owl.yaml의 JSON Schema"],
    file: ["default: OWL_CONFIG, ./owl.yaml", "기본: OWL_CONFIG, ./owl.yaml"],
    noFile: ["no owl.yaml, defaults", "owl.yaml 없음, 기본값"],
    fromDaemon: ["as owld runs it", "owld가 쓰고 있는 설정"],
    fromFile: ["as owld would load it (owld is not running)", "owld가 읽게 될 설정(owld는 실행 중이 아님)"],
  },
  batch: {
    about: ["transcribe an archive: plan, start, watch", "아카이브 전사: 계획, 시작, 지켜보기"],
    plan: ["what would run, nothing written", "무엇이 실행될지 보여 줌, 아무것도 쓰지 않음"],
    start: ["start it", "시작"],
    list: ["all batches", "모든 배치"],
    show: ["one batch", "배치 하나"],
    watch: [
      "progress of a batch to its end (Ctrl-C ends the watching only)",
      "배치의 진행을 끝까지 지켜봄(Ctrl-C는 지켜보기만 끝냄)",
    ],
    cancel: ["cancel what has not run", "아직 실행되지 않은 것을 취소"],
    retry: ["run the failed items again", "실패한 항목을 다시 실행"],
    path: ["folder below archive.roots", "archive.roots 아래의 폴더"],
    id: ["id of a batch", "배치 id"],
    user: ["account it belongs to (default: admin)", "소유 계정(기본: admin)"],
    started: (id: string) => [
      `Batch ${id} runs. Watch it: owlctl batch watch ${id}`,
      `배치 ${id} 실행 중. 지켜보기: owlctl batch watch ${id}`,
    ],
    asked: (id: string) => [`Asked for batch ${id}.`, `배치 ${id}에 요청했습니다.`],
    planned: (items: number, skipped: number, time: string) => [
      `${items} recordings, ${skipped} skipped, about ${time}`,
      `녹음 ${items}개, 건너뜀 ${skipped}개, 약 ${time}`,
    ],
    skipped: (path: string, reason: string) => [`skipped ${path}: ${reason}`, `건너뜀 ${path}: ${reason}`],
    none: ["No batches yet.", "배치가 아직 없습니다."],
    columns: [
      ["ID", "STATE", "DONE", "FAILED", "QUEUED", "RUNNING", "PROGRESS", "LEFT"],
      ["ID", "상태", "완료", "실패", "대기", "실행", "진행", "남은 시간"],
    ],
    line: (state: string, done: number, total: number, failed: number) => [
      `${state}: ${done} of ${total} done, ${failed} failed`,
      `${state}: ${total}개 중 ${done}개 완료, ${failed}개 실패`,
    ],
    left: (time: string) => [`about ${time} left`, `약 ${time} 남음`],
    interrupted: (id: string) => [
      `Batch ${id} goes on. Watch it again: owlctl batch watch ${id}`,
      `배치 ${id}은(는) 계속됩니다. 다시 지켜보기: owlctl batch watch ${id}`,
    ],
  },
  turns: {
    about: ["measured lengths of turns: p50, p95, p99", "턴 길이의 실측: p50, p95, p99"],
    none: ["No turns have ended in that time.", "그 기간에 끝난 턴이 없습니다."],
    since: ["of the last 24h, 7d, ... (default 7d)", "최근 24h, 7d, ...(기본 7d)"],
    columns: [
      ["OUTCOME", "TURNS", "P50", "P95", "P99", "LONGEST"],
      ["결과", "턴", "P50", "P95", "P99", "최장"],
    ],
    advice: (p95: string, finish: string) => [
      `p95 of answered turns is ${p95}; turn.finish is ${finish}.`,
      `답한 턴의 p95는 ${p95}, turn.finish는 ${finish}입니다.`,
    ],
    above: [
      "p95 is above turn.finish: a restart cuts more than one turn in twenty. Raise turn.finish (and stop.grace).",
      "p95가 turn.finish보다 깁니다. 재시작 때 스무 턴에 하나 넘게 끊깁니다. turn.finish(와 stop.grace)를 늘리세요.",
    ],
  },
  schedule: scheduleWords,
  user: {
    about: ["accounts of the bundled application", "내장 애플리케이션의 계정"],
    add: ["add an account; its one-time password is printed", "계정 추가; 일회용 비밀번호를 출력"],
    list: ["all accounts", "모든 계정"],
    passwd: ["give an account a new one-time password", "계정에 새 일회용 비밀번호를 줌"],
    disable: ["disable an account and end its sessions", "계정을 막고 세션을 끝냄"],
    enable: ["let a disabled account sign in again", "막힌 계정을 다시 쓸 수 있게 함"],
    delete: ["delete an account with all its data", "계정과 그 모든 데이터를 삭제"],
    confirmDelete: (name: string) => [
      `Delete ${name} with all conversations, recordings and playbooks?`,
      `${name} 계정을 대화, 녹음, 플레이북과 함께 모두 삭제할까요?`,
    ],
    kept: ["Nothing was deleted.", "아무것도 삭제하지 않았습니다."],
    deleted: (name: string) => [
      `Account ${name} deleted; its data is being erased.`,
      `계정 ${name}을(를) 삭제했습니다. 데이터를 지우는 중입니다.`,
    ],
    name: ["name of the account", "계정 이름"],
    admin: ["may see administration pages and approve updates", "관리 화면을 보고 업데이트를 승인할 수 있음"],
    stdin: ["read the password from standard input instead of making one", "비밀번호를 만들지 않고 표준 입력에서 읽음"],
    added: (name: string) => [`Account ${name} added.`, `계정 ${name}을(를) 추가했습니다.`],
    changed: (name: string) => [
      `Password of ${name} changed; its sessions are ended.`,
      `${name}의 비밀번호를 바꾸고 세션을 끝냈습니다.`,
    ],
    password: (password: string) => [`One-time password: ${password}`, `일회용 비밀번호: ${password}`],
    disabled: (name: string) => [
      `Account ${name} disabled; its sessions are ended.`,
      `계정 ${name}을(를) 막고 세션을 끝냈습니다.`,
    ],
    enabled: (name: string) => [`Account ${name} may sign in again.`, `계정 ${name}을(를) 다시 쓸 수 있습니다.`],
    columns: [
      ["NAME", "ROLE", "STATE", "CREATED"],
      ["이름", "역할", "상태", "만든 때"],
    ],
    roles: { admin: ["administrator", "관리자"], user: ["user", "사용자"] },
    states: { active: ["active", "사용 중"], disabled: ["disabled", "막힘"] },
  },
  completion: { about: ["completion script for bash, zsh or fish", "bash, zsh, fish의 자동 완성 스크립트"] },
  update: {
    about: [
      "update to a release; owld does it, this only watches",
      "릴리스로 업데이트합니다. 작업은 owld가 하고 이 명령은 지켜보기만 합니다",
    ],
    source: [
      "an archive made by npm run release, or a release directory, on owld's machine",
      "npm run release로 만든 아카이브나 릴리스 디렉터리 (owld가 있는 기계의 경로)",
    ],
    stage: [
      "only unpack and verify it, and offer it on the administrators' page",
      "풀어서 검증만 하고 관리자 화면에 제공합니다",
    ],
    overlap: [
      "old and new workers together, where the releases' manifests allow it",
      "매니페스트가 허용하면 옛 워커와 새 워커를 함께 둡니다",
    ],
    allowUnsigned: [
      "take a release that no key known here has signed: whoever built it then runs code here with every right of owld, over the database, the secrets and this machine",
      "여기서 아는 키로 서명되지 않은 릴리스도 받습니다. 그러면 그것을 만든 사람의 코드가 owld의 모든 권한으로(데이터베이스, 비밀 값, 이 기계) 실행됩니다",
    ],
    plan: [
      "say what would happen, with the worst times; touches no process (exit 10: there are changes)",
      "무엇을 하고 최악의 경우 얼마나 걸리는지만 보입니다. 프로세스는 건드리지 않습니다 (변경이 있으면 종료 코드 10)",
    ],
    staged: (version: string, path: string) => [
      `Release ${version} is staged in ${path}.`,
      `릴리스 ${version}이(가) ${path}에 준비되었습니다.`,
    ],
    staging: ["unpacking and verifying the release …", "릴리스를 풀어 검증하고 있습니다 …"],
    ask: ["Update now?", "지금 업데이트할까요?"],
  },
  ...deployWords,
  export: {
    about: [
      "the same budgets as manifests, for those who outgrow one machine",
      "한 대로 부족해진 설치를 위해 같은 한도를 매니페스트로 내보냅니다",
    ],
    kubernetes: [
      "Kubernetes objects: Deployments, probes, budgets, Services, the migration Job",
      "Kubernetes 객체: Deployment, 프로브, PodDisruptionBudget, Service, 마이그레이션 Job",
    ],
    compose: ["a compose file", "compose 파일"],
    file: ["owl.yaml (default: as owld finds it)", "owl.yaml (기본값: owld가 찾는 것)"],
    image: ["image made from a release, with its code in /owl", "릴리스로 만든 이미지 (코드는 /owl)"],
    appConfig: [
      "also write the bundled application's configuration, secrets included, to this file (0600)",
      "내장 애플리케이션의 설정도 비밀값과 함께 이 파일에 씁니다 (0600)",
    ],
    noDatabase: [
      "The bundled application needs a PostgreSQL of its own there, and owl.yaml names none.",
      "그곳의 내장 애플리케이션에는 별도의 PostgreSQL이 필요하지만 owl.yaml에 지정되어 있지 않습니다.",
    ],
    noDatabaseNext: [
      "Set database.url in owl.yaml; a managed PostgreSQL does not leave its machine.",
      "owl.yaml에 database.url을 지정하십시오. 관리형 PostgreSQL은 다른 기계로 옮겨지지 않습니다.",
    ],
    leftOutHead: [
      "Not in this file; a proxy and an image of yours have to do it:",
      "이 파일에 담지 못한 것. 직접 마련한 프록시와 이미지가 해야 합니다:",
    ],
    noApp: ["There is no bundled application in this configuration.", "이 설정에는 내장 애플리케이션이 없습니다."],
    noAppNext: [
      "Leave out --app-config: the secret holds the variables your services name.",
      "--app-config를 빼십시오. 시크릿에는 서비스가 쓰는 변수만 들어갑니다.",
    ],
    wrote: (path: string) => [
      `Wrote ${path} (readable by you alone). It holds secrets: delete it after use.`,
      `${path}에 썼습니다 (본인만 읽을 수 있음). 비밀값이 있으니 쓴 뒤에는 지우십시오.`,
    ],
    head: (form: "kubernetes" | "compose", file: string) => [
      form === "kubernetes"
        ? [
            "Made by `owlctl export kubernetes`. Secrets are references to the Secret `owl`; make it first:",
            `  kubectl create secret generic owl --from-file=OWL_APP_CONFIG=${file}`,
            "(and one --from-literal or --from-file for each other name under secretKeyRef and secret.items).",
            "Then the Job owl-migrate-…, to its end, then the rest. Workers on several nodes share the queue.",
          ]
        : [
            "Made by `owlctl export compose`. Secrets are references to variables of the environment or of .env (and files in secrets/):",
            `  export OWL_APP_CONFIG="$(cat ${file})"`,
            "Compose does not surge by itself: `docker compose up` stops the old container first. Only a swarm",
            "honours update_config.order: start-first.",
          ],
      form === "kubernetes"
        ? [
            "`owlctl export kubernetes`가 만들었습니다. 비밀값은 시크릿 `owl`을 참조합니다. 먼저 만드십시오:",
            `  kubectl create secret generic owl --from-file=OWL_APP_CONFIG=${file}`,
            "(secretKeyRef와 secret.items에 있는 다른 이름마다 --from-literal이나 --from-file을 더하십시오.)",
            "그다음 Job owl-migrate-…를 끝까지 실행하고, 나머지를 적용하십시오. 여러 노드의 워커가 큐를 함께 씁니다.",
          ]
        : [
            "`owlctl export compose`가 만들었습니다. 비밀값은 환경 변수나 .env(와 secrets/의 파일)를 참조합니다:",
            `  export OWL_APP_CONFIG="$(cat ${file})"`,
            "compose는 새것을 먼저 띄우지 않습니다. `docker compose up`은 옛 컨테이너를 먼저 멈춥니다.",
            "update_config.order: start-first는 swarm만 지킵니다.",
          ],
    ],
  },
  version: {
    about: ["versions of owlctl and owld", "owlctl과 owld의 버전"],
    noDaemon: ["owld is not running (or not reachable)", "owld가 실행 중이 아니거나 연결할 수 없습니다"],
  },
} satisfies Catalogue;
