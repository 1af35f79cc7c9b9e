// owld가 요청을 거부하는 이유와 그다음 할 일의 한국어판. refused-en.ts와 같은 모양이다.

import type { Refused } from "./refused-en.ts";

const NOTHING_CHANGED = "아무것도 바꾸지 않았습니다.";
const FREE_SPACE = "공간을 비우고(얼마나 필요한지는 `owlctl preflight`가 알려 줍니다) 업데이트를 다시 실행하십시오.";
const SHAPE = "올바른 형식: GET /v1/openapi.json";
const ROUTES = "모든 경로: GET /v1/openapi.json";
const KINDS = { service: "서비스는", instance: "인스턴스는", rollout: "롤아웃은" };

export const refusedKo: Refused = {
  internal: () => ({
    sentence: "owld가 이 요청에 답하지 못했습니다. 이유는 로그에 있습니다.",
    next: "owld의 로그 확인: journalctl -u owl, 또는 owld를 실행한 터미널",
  }),
  busy: (rollout) => ({
    sentence: `롤아웃 ${rollout}이(가) 진행 중입니다.`,
    next: `지켜보기: owlctl rollout watch ${rollout}`,
  }),
  stopping: () => ({ sentence: "owld가 멈추는 중입니다.", next: "먼저 다시 시작하십시오." }),
  diskFull: (failing) => ({
    sentence: `상태 파일에 쓸 수 없어(${failing}) 단계를 기록할 수 없습니다.`,
    next: "상태 디렉터리의 공간을 비우고 다시 요청하십시오. 그동안 감독은 계속됩니다.",
  }),
  serviceStopped: (service) => ({
    sentence: `${service}은(는) 멈춰 있어 교체할 것이 없습니다.`,
    next: `시작: owlctl start ${service}`,
  }),
  noRollout: () => ({ sentence: "진행 중인 롤아웃이 없습니다.", next: "지난 것 보기: owlctl rollout list" }),
  unknown: (kind, name) => `${JSON.stringify(name)}이라는 ${KINDS[kind]} 없습니다.`,
  didYouMean: (nearest) => `혹시 ${nearest}인가요?`,
  known: (names) => `있는 것: ${names}.`,
  noneYet: "아직 하나도 없습니다.",
  preflight: (failed, commands) => ({
    sentence: `사전 점검이 실패하여 아무것도 건드리지 않았습니다. ${failed}.`,
    next: `${commands}; 전체 점검: owlctl preflight`,
  }),
  overBudget: (steady, own, limit) => ({
    sentence: `서비스들이 연결 ${steady}개를 선언하여, Owl이 쓰는 ${own}개를 더하면 서버의 ${limit}개를 넘습니다.`,
    next: "replicas나 connections를 줄이거나 PostgreSQL의 max_connections를 늘리십시오.",
  }),
  app: (why) => ({
    sentence: `애플리케이션에 물어볼 수 없습니다: ${why}.`,
    next: "무엇을 기다리는지 보기: owlctl why web",
  }),
  appNotReady: "내장 애플리케이션의 웹 인스턴스 중 준비된 것이 없음",
  appBrokeOff: (why) => `웹 인스턴스가 연결을 끊음(${why})`,
  request: {
    replicas: (service, replicas) => ({ sentence: `${service}=${replicas}: 0부터 1000까지의 정수여야 합니다.` }),
    noRoute: (path) => ({ sentence: `여기에 ${path}은(는) 없습니다.`, next: ROUTES }),
    method: (path, allowed, method) => ({
      sentence: `${path}은(는) ${method}이(가) 아니라 ${allowed.join(" 또는 ")}을(를) 받습니다.`,
      next: ROUTES,
    }),
    brokenEscape: (segment) => ({ sentence: `경로에 잘못된 이스케이프가 있습니다: ${segment}.` }),
    givenTwice: (name) => ({ sentence: `query.${name}이(가) 두 번 주어졌습니다.` }),
    tooLarge: (bytes) => ({ sentence: `본문이 ${bytes}바이트를 넘습니다.` }),
    emptyBody: () => ({ sentence: "본문이 비어 있습니다.", next: SHAPE }),
    noJson: () => ({ sentence: "본문이 JSON이 아닙니다.", next: SHAPE }),
    shape: (issues) => ({ sentence: `요청의 형식이 맞지 않습니다: ${issues}.`, next: SHAPE }),
  },
  release: {
    notStaged: (version) => ({
      sentence: `릴리스 ${version}은(는) 이제 여기에 준비되어 있지 않습니다.`,
      next: "다시 준비: owlctl update --stage ARCHIVE",
    }),
    noManifest: (version) => ({ sentence: `${version}에 매니페스트가 없습니다.`, next: "다시 준비하십시오." }),
    platform: (version, platform, here) => ({
      sentence: `릴리스 ${version}은(는) ${platform}용인데 이 기계는 ${here}입니다.`,
      next: `${here}에서 만드십시오: \`npm run release\``,
    }),
    configuration: (version, words) => ({
      sentence: `릴리스 ${version}이(가) 설정을 받아들이지 않습니다: ${words}`,
      next: "먼저 owl.yaml을 고치거나 지금 릴리스를 그대로 쓰십시오.",
    }),
    owld: (version, words) => ({
      sentence: `릴리스 ${version}의 owld가 시작되지 않습니다: ${words}`,
      next: "`npm run release`로 릴리스를 다시 만들거나 지금 릴리스를 그대로 쓰십시오.",
    }),
    preflight: (version, words) => ({
      sentence: `릴리스 ${version}의 사전 점검이 실행되지 않았습니다: ${words}`,
      next: "`npm run release`로 릴리스를 다시 만들거나 지금 릴리스를 그대로 쓰십시오.",
    }),
    diskFullStaging: () => ({ sentence: "릴리스를 준비하는 중에 디스크가 찼습니다.", next: FREE_SPACE }),
    diskFullUnpacking: () => ({ sentence: "릴리스를 푸는 중에 디스크가 찼습니다.", next: FREE_SPACE }),
    unreadable: (source, why) => ({
      sentence: `${source}을(를) 읽을 수 없습니다: ${why}.`,
      next: "`npm run release`로 만든 아카이브나 디렉터리의 경로를 주십시오.",
    }),
    notCopied: (path, source, why) => ({
      sentence: `${source}에서 ${path}을(를) 복사할 수 없습니다: ${why}.`,
      next: `${NOTHING_CHANGED} \`npm run release\`로 릴리스를 다시 만드십시오.`,
    }),
    exists: (version) => ({
      sentence: `내용이 다른 릴리스 ${version}이(가) 이미 여기에 있습니다.`,
      next: "새 릴리스에 다른 버전을 주거나, 옛것에서 아무것도 실행되지 않을 때 지우십시오.",
    }),
    missing: (dir, file) => ({
      sentence: `${dir}에 ${file}이(가) 없습니다.`,
      next: "`npm run release`로 만든 아카이브나 디렉터리를 주십시오.",
    }),
    changed: (path, how) => ({
      sentence: {
        link: `${path}은(는) 매니페스트에 없는 링크입니다.`,
        notListed: `${path}은(는) 매니페스트에 없습니다.`,
        differs: `${path}이(가) 매니페스트와 다릅니다.`,
        missing: `${path}이(가) 빠져 있습니다.`,
      }[how],
      next: `${NOTHING_CHANGED} 릴리스를 다시 복사하거나 \`npm run release\`로 다시 만드십시오.`,
    }),
    archiveUnreadable: (archive, why) => ({
      sentence: `아카이브 ${archive}을(를) 읽을 수 없습니다: ${why}.`,
      next: "경로와 권한을 확인하십시오.",
    }),
    archive: (what) => ({
      sentence: `아카이브를 받아들일 수 없습니다: ${what}.`,
      next: `${NOTHING_CHANGED} \`npm run release\`로 다시 만들거나 다시 복사하십시오.`,
    }),
    firstEntry: (name, manifest) => `첫 항목이 ${manifest}이(가) 아니라 ${JSON.stringify(name)}임`,
    empty: "비어 있음",
    holds: (name, why) => `${JSON.stringify(name)} 항목: ${why}`,
    links: (name, to, why) => `${JSON.stringify(name)}이(가) ${JSON.stringify(to)}(으)로 링크됨: ${why}`,
    unlistedLink: (name) => `링크 ${JSON.stringify(name)}이(가) 매니페스트에 없음`,
    unlisted: "매니페스트에 없음",
    size: (name, bytes, listed) => `${JSON.stringify(name)}은(는) ${bytes}바이트인데 매니페스트에는 ${listed}바이트임`,
    largeManifest: "매니페스트가 64 MiB보다 큼",
    damaged: (why) => `잘렸거나 손상됨(${why})`,
    noRelease: (what) => ({
      sentence: `릴리스가 아닙니다: ${what}.`,
      next: "`npm run release`로 다시 만들거나 다시 복사하십시오.",
    }),
    newerFormat: (format, own) => ({
      sentence: `manifest.json의 형식은 ${format}인데 이 Owl은 형식 ${own}을(를) 읽습니다.`,
      next: "먼저 중간 릴리스로 업데이트하거나, 이 버전으로 아카이브를 만드십시오.",
    }),
    notJson: "manifest.json이 JSON이 아님",
    notManifest: (place, why) => `manifest.json, ${place || "(전체)"}: ${why ?? "매니페스트가 아님"}`,
    names: (path, why) => `manifest.json에 적힌 ${JSON.stringify(path)}: ${why}`,
    manifestLinks: (path, to, why) =>
      `manifest.json에서 ${JSON.stringify(path)}이(가) ${JSON.stringify(to)}(으)로 링크됨: ${why}`,
    fileAndLink: (path) => `manifest.json에 ${JSON.stringify(path)}이(가) 파일과 링크로 함께 적혀 있음`,
    badPath: {
      length: "길이가 허용되지 않음",
      absolute: "절대 경로임",
      control: "제어 문자나 백슬래시가 들어 있음",
      notPlain: "단순한 상대 경로가 아님",
      manifest: "매니페스트 자신임",
      notRelative: "상대 경로가 아님",
      out: "릴리스 밖을 가리킴",
      behindLink: "링크 뒤에 있음",
    },
  },
  update: {
    overlap: (reasons) => ({
      sentence: `옛 워커와 새 워커를 함께 실행할 수 없습니다: ${reasons}.`,
      next: "--overlap을 빼십시오. 먼저 비우는 것이 기본이며 잃는 것이 없습니다.",
    }),
    noWorkers: () => ({
      sentence: "여기에는 함께 둘 내장 워커가 없습니다.",
      next: "--overlap을 빼십시오. Owl을 업데이트해도 서비스는 건드리지 않습니다.",
    }),
    migrationChanged: (migration, version) => ({
      sentence: `릴리스 ${version}의 마이그레이션 ${migration}이(가) 이 데이터베이스에 적용된 것과 다릅니다.`,
      next: "적용된 마이그레이션은 고치지 않습니다. 새것을 더해 릴리스를 다시 만드십시오.",
    }),
    schemaAhead: (version, unknown) => ({
      sentence: `데이터베이스에 릴리스 ${version}이(가) 모르는 마이그레이션이 있습니다: ${unknown}.`,
      next: "더 새로운 릴리스를 쓰거나 `owlctl rollback`으로 되돌리십시오.",
    }),
    noDatabase: () => ({
      sentence: "데이터베이스가 실행 중이 아니어서 비교할 수 없습니다.",
      next: "이유 보기: owlctl events",
    }),
    same: (version) => ({
      sentence: `릴리스 ${version}이(가) 이미 실행 중입니다.`,
      next: "아무것도 바꾸지 않았습니다. 프로세스를 새로 시작하려면: owlctl restart",
    }),
    preflight: (checks, version, found, command) => ({
      sentence: `${checks}${version === null ? "" : ` (릴리스 ${version})`}: ${found}.`,
      next: `확인: ${command}`,
    }),
    smokeFailed: (why) => ({ sentence: `프록시를 거친 요청이 실패했습니다: ${why}.` }),
    smokeStatus: (status) => ({ sentence: `프록시를 거친 요청이 ${status} 응답을 받았습니다.` }),
    smokeLate: (seconds) => `${seconds}초 안에 답이 없음`,
  },
  rollback: {
    none: () => ({ sentence: "여기에서 이보다 먼저 실행된 릴리스가 없습니다.", next: "확인: owlctl rollout list" }),
    same: (version) => ({ sentence: `${version}이(가) 이미 실행 중입니다.`, next: "확인: owlctl version" }),
    unknown: (version, nearest, here) => ({
      sentence: `여기에 릴리스 ${version}은(는) 없습니다.${nearest === null ? "" : ` 혹시 ${nearest}인가요?`}`,
      next: `여기에 있는 것: ${here || "없음"}.`,
    }),
    noCopy: (version) => ({
      sentence: `${version}은(는) 지금의 데이터베이스를 쓸 수 없고, 이전의 복사본도 여기에 없습니다.`,
      next: "직접 만든 백업을 되돌려 놓거나, 더 새로운 릴리스로 업데이트하십시오.",
    }),
  },
  migration: {
    numbers: (file, expected) => ({
      sentence: `migrations/${file}의 번호는 ${expected}이어야 합니다.`,
      next: "번호를 고치십시오.",
    }),
    gap: (lacking, has, name) => ({
      sentence: `데이터베이스에 마이그레이션 ${lacking}은(는) 없는데 ${has}(${name})은(는) 있습니다.`,
      next: "백업을 되돌려 놓으십시오. 이 데이터베이스는 손으로 바뀌었습니다.",
    }),
    future: (name, last) => ({
      sentence: `데이터베이스가 이 릴리스보다 새것입니다. 마이그레이션 ${name}이(가) 있는데 이 릴리스는 ${last}에서 끝납니다.`,
      next: "그것을 만든 릴리스를 시작하거나, 그 전에 만든 복사본을 되돌려 놓으십시오.",
    }),
    changed: (file, applied) => ({
      sentence: `migrations/${file}이(가) ${applied}(으)로 적용된 것과 다릅니다.`,
      next: "파일을 릴리스된 그대로 되돌리십시오. 변경은 새 파일에 넣습니다.",
    }),
  },
};
