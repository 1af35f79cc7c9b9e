// Why owld refuses what an operator asked for, and the way on. Pure.

import type { Catalogue } from "../../../config/text.ts";
import { backupWords } from "./backup-words.ts";
import { refusedDeploys, refusedRuns } from "./deploy-words.ts";
import { releaseWords } from "./release-words.ts";
import { upgradeWords } from "./upgrade-words.ts";

const ALL_ROUTES = ["All routes: GET /v1/openapi.json", "모든 경로: GET /v1/openapi.json"] as const;
const ITS_SHAPE = ["Its shape: GET /v1/openapi.json", "올바른 형식: GET /v1/openapi.json"] as const;
const KINDS = { service: "서비스는", instance: "인스턴스는", rollout: "롤아웃은" };

export const refusedWords = {
  backup: backupWords,
  upgrade: upgradeWords,
  internal: () => ({
    sentence: [
      "owld failed to answer this; its log says why.",
      "owld가 이 요청에 답하지 못했습니다. 이유는 로그에 있습니다.",
    ],
    next: [
      "Look at the log of owld: journalctl -u owl, or the terminal it runs in.",
      "owld의 로그 확인: journalctl -u owl, 또는 owld를 실행한 터미널",
    ],
  }),
  busy: (rollout: string) => ({
    sentence: [`Rollout ${rollout} is running.`, `롤아웃 ${rollout}이(가) 진행 중입니다.`],
    next: [`Watch it: owlctl rollout watch ${rollout}`, `지켜보기: owlctl rollout watch ${rollout}`],
  }),
  stopping: () => ({
    sentence: ["owld is stopping.", "owld가 멈추는 중입니다."],
    next: ["Start it again first.", "먼저 다시 시작하십시오."],
  }),
  diskFull: (failing: string) => ({
    sentence: [
      `The state file cannot be written (${failing}), so no step could be recorded.`,
      `상태 파일에 쓸 수 없어(${failing}) 단계를 기록할 수 없습니다.`,
    ],
    next: [
      "Free some space in the state directory and ask again; supervision goes on meanwhile.",
      "상태 디렉터리의 공간을 비우고 다시 요청하십시오. 그동안 감독은 계속됩니다.",
    ],
  }),
  serviceStopped: (service: string) => ({
    sentence: [
      `${service} is stopped, so there is nothing to replace.`,
      `${service}은(는) 멈춰 있어 교체할 것이 없습니다.`,
    ],
    next: [`Start it: owlctl start ${service}`, `시작: owlctl start ${service}`],
  }),
  certificate: (found: string) => ({
    sentence: [
      `The certificate cannot be used: ${found}. The proxy serves on with the one before it.`,
      `인증서를 쓸 수 없습니다: ${found}. 프록시는 이전 인증서로 계속 서비스합니다.`,
    ],
    next: [
      "Put certificate and key of one pair in place (proxy.tls), then: owlctl reload",
      "짝이 맞는 인증서와 키를 두고(proxy.tls) 다시 실행: owlctl reload",
    ],
  }),
  noRollout: () => ({
    sentence: ["No rollout is running.", "진행 중인 롤아웃이 없습니다."],
    next: ["See the past ones: owlctl rollout list", "지난 것 보기: owlctl rollout list"],
  }),
  unknown: (kind: "service" | "instance" | "rollout", name: string) => [
    `There is no ${kind} ${JSON.stringify(name)}.`,
    `${JSON.stringify(name)}이라는 ${KINDS[kind]} 없습니다.`,
  ],
  didYouMean: (nearest: string) => [`Did you mean ${nearest}?`, `혹시 ${nearest}인가요?`],
  known: (names: string) => [`Known: ${names}.`, `있는 것: ${names}.`],
  noneYet: ["There is none yet.", "아직 하나도 없습니다."],
  preflight: (failed: string, commands: string) => ({
    sentence: [
      `Preflight fails, so nothing was touched. ${failed}.`,
      `사전 점검이 실패하여 아무것도 건드리지 않았습니다. ${failed}.`,
    ],
    next: [`${commands}; then look at everything: owlctl preflight`, `${commands}; 전체 점검: owlctl preflight`],
  }),
  overBudget: (steady: number, own: number, limit: number) => ({
    sentence: [
      `The services declare ${steady} connections; with ${own} of Owl's own that is over the server's ${limit}.`,
      `서비스들이 연결 ${steady}개를 선언하여, Owl이 쓰는 ${own}개를 더하면 서버의 ${limit}개를 넘습니다.`,
    ],
    next: [
      "Lower replicas or connections, or raise PostgreSQL's max_connections.",
      "replicas나 connections를 줄이거나 PostgreSQL의 max_connections를 늘리십시오.",
    ],
  }),
  app: (why: string) => ({
    sentence: [`The application cannot be asked: ${why}.`, `애플리케이션에 물어볼 수 없습니다: ${why}.`],
    next: ["See what it waits for: owlctl why web", "무엇을 기다리는지 보기: owlctl why web"],
  }),
  appNotReady: [
    "no web instance of the bundled application is ready",
    "내장 애플리케이션의 웹 인스턴스 중 준비된 것이 없음",
  ],
  appBrokeOff: (why: string) => [`the web instance broke off (${why})`, `웹 인스턴스가 연결을 끊음(${why})`],
  request: {
    replicas: (service: string, replicas: number) => ({
      sentence: [
        `${service}=${replicas}: a whole number from 0 to 1000 is expected.`,
        `${service}=${replicas}: 0부터 1000까지의 정수여야 합니다.`,
      ],
    }),
    noRoute: (path: string) => ({
      sentence: [`There is no ${path} here.`, `여기에 ${path}은(는) 없습니다.`],
      next: ALL_ROUTES,
    }),
    method: (path: string, allowed: readonly string[], method: string) => ({
      sentence: [
        `${path} takes ${allowed.join(" or ")}, not ${method}.`,
        `${path}은(는) ${method}이(가) 아니라 ${allowed.join(" 또는 ")}을(를) 받습니다.`,
      ],
      next: ALL_ROUTES,
    }),
    brokenEscape: (segment: string) => ({
      sentence: [`The path holds a broken escape: ${segment}.`, `경로에 잘못된 이스케이프가 있습니다: ${segment}.`],
    }),
    givenTwice: (name: string) => ({
      sentence: [`query.${name} is given twice.`, `query.${name}이(가) 두 번 주어졌습니다.`],
    }),
    tooLarge: (bytes: number) => ({
      sentence: [`The body is over ${bytes} bytes.`, `본문이 ${bytes}바이트를 넘습니다.`],
    }),
    emptyBody: () => ({ sentence: ["The body is empty.", "본문이 비어 있습니다."], next: ITS_SHAPE }),
    noJson: () => ({ sentence: ["The body is no JSON.", "본문이 JSON이 아닙니다."], next: ITS_SHAPE }),
    shape: (issues: string) => ({
      sentence: [`${issues}.`, `요청의 형식이 맞지 않습니다: ${issues}.`],
      next: ITS_SHAPE,
    }),
  },
  release: releaseWords,
  deploy: refusedDeploys,
  run: refusedRuns,
  update: {
    overlap: (reasons: string) => ({
      sentence: [
        `Old and new workers may not run together: ${reasons}.`,
        `옛 워커와 새 워커를 함께 실행할 수 없습니다: ${reasons}.`,
      ],
      next: [
        "Leave out --overlap: drain first is the default and loses nothing.",
        "--overlap을 빼십시오. 먼저 비우는 것이 기본이며 잃는 것이 없습니다.",
      ],
    }),
    noWorkers: () => ({
      sentence: ["There are no bundled workers here that could overlap.", "여기에는 함께 둘 내장 워커가 없습니다."],
      next: [
        "Leave out --overlap: your services are not touched by an update of Owl.",
        "--overlap을 빼십시오. Owl을 업데이트해도 서비스는 건드리지 않습니다.",
      ],
    }),
    migrationChanged: (migration: string, version: string) => ({
      sentence: [
        `Migration ${migration} of release ${version} differs from the one this database has.`,
        `릴리스 ${version}의 마이그레이션 ${migration}이(가) 이 데이터베이스에 적용된 것과 다릅니다.`,
      ],
      next: [
        "A migration that was applied is never edited; add a new one and build the release again.",
        "적용된 마이그레이션은 고치지 않습니다. 새것을 더해 릴리스를 다시 만드십시오.",
      ],
    }),
    schemaAhead: (version: string, unknown: string) => ({
      sentence: [
        `The database has migrations release ${version} does not know: ${unknown}.`,
        `데이터베이스에 릴리스 ${version}이(가) 모르는 마이그레이션이 있습니다: ${unknown}.`,
      ],
      next: [
        "Use a newer release, or go back with `owlctl rollback`.",
        "더 새로운 릴리스를 쓰거나 `owlctl rollback`으로 되돌리십시오.",
      ],
    }),
    noDatabase: () => ({
      sentence: [
        "The database is not up, so nothing can be compared with it.",
        "데이터베이스가 실행 중이 아니어서 비교할 수 없습니다.",
      ],
      next: ["See why: owlctl events", "이유 보기: owlctl events"],
    }),
    same: (version: string) => ({
      sentence: [`Release ${version} is what runs already.`, `릴리스 ${version}이(가) 이미 실행 중입니다.`],
      next: [
        "Nothing was changed. To start its processes anew: owlctl restart",
        "아무것도 바꾸지 않았습니다. 프로세스를 새로 시작하려면: owlctl restart",
      ],
    }),
    preflight: (checks: string, version: string | null, found: string, command: string) => ({
      sentence: [
        `${checks}${version === null ? "" : ` (release ${version})`}: ${found}.`,
        `${checks}${version === null ? "" : ` (릴리스 ${version})`}: ${found}.`,
      ],
      next: [`Try: ${command}`, `확인: ${command}`],
    }),
    smokeFailed: (why: string) => ({
      sentence: [`A request through the proxy failed: ${why}.`, `프록시를 거친 요청이 실패했습니다: ${why}.`],
    }),
    smokeStatus: (status: number) => ({
      sentence: [
        `A request through the proxy was answered with ${status}.`,
        `프록시를 거친 요청이 ${status} 응답을 받았습니다.`,
      ],
    }),
    smokeLate: (seconds: number) => [`no answer within ${seconds} s`, `${seconds}초 안에 답이 없음`],
  },
  rollback: {
    none: () => ({
      sentence: ["No release ran here before this one.", "여기에서 이보다 먼저 실행된 릴리스가 없습니다."],
      next: ["See: owlctl rollout list", "확인: owlctl rollout list"],
    }),
    same: (version: string) => ({
      sentence: [`${version} is what runs already.`, `${version}이(가) 이미 실행 중입니다.`],
      next: ["See: owlctl version", "확인: owlctl version"],
    }),
    unknown: (version: string, nearest: string | null, here: string) => ({
      sentence: [
        `There is no release ${version} here.${nearest === null ? "" : ` Did you mean ${nearest}?`}`,
        `여기에 릴리스 ${version}은(는) 없습니다.${nearest === null ? "" : ` 혹시 ${nearest}인가요?`}`,
      ],
      next: [`Here are: ${here || "none"}.`, `여기에 있는 것: ${here || "없음"}.`],
    }),
    noCopy: (version: string) => ({
      sentence: [
        `${version} cannot live with the database of now, and no copy from before is here.`,
        `${version}은(는) 지금의 데이터베이스를 쓸 수 없고, 이전의 복사본도 여기에 없습니다.`,
      ],
      next: [
        "Restore a backup of your own, or update to a newer release instead.",
        "직접 만든 백업을 되돌려 놓거나, 더 새로운 릴리스로 업데이트하십시오.",
      ],
    }),
  },
  migration: {
    numbers: (file: string | undefined, expected: number) => ({
      sentence: [
        `migrations/${file} should have number ${expected}.`,
        `migrations/${file}의 번호는 ${expected}이어야 합니다.`,
      ],
      next: ["Renumber it.", "번호를 고치십시오."],
    }),
    gap: (lacking: number, has: number, name: string) => ({
      sentence: [
        `The database lacks migration ${lacking} but has ${has} (${name}).`,
        `데이터베이스에 마이그레이션 ${lacking}은(는) 없는데 ${has}(${name})은(는) 있습니다.`,
      ],
      next: [
        "Restore a backup: this database was changed by hand.",
        "백업을 되돌려 놓으십시오. 이 데이터베이스는 손으로 바뀌었습니다.",
      ],
    }),
    future: (name: string, last: number) => ({
      sentence: [
        `The database is newer than this release: it has migration ${name}, we end at ${last}.`,
        `데이터베이스가 이 릴리스보다 새것입니다. 마이그레이션 ${name}이(가) 있는데 이 릴리스는 ${last}에서 끝납니다.`,
      ],
      next: [
        "Start the release that made it, or restore the copy made before it.",
        "그것을 만든 릴리스를 시작하거나, 그 전에 만든 복사본을 되돌려 놓으십시오.",
      ],
    }),
    changed: (file: string, applied: string) => ({
      sentence: [
        `migrations/${file} is not what was applied as ${applied}.`,
        `migrations/${file}이(가) ${applied}(으)로 적용된 것과 다릅니다.`,
      ],
      next: [
        "Put the file back as it was released; changes go into a new file.",
        "파일을 릴리스된 그대로 되돌리십시오. 변경은 새 파일에 넣습니다.",
      ],
    }),
  },
} satisfies Catalogue;
