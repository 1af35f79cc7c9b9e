// What owlctl says of deploys, and of what operators do by habit.

import type { Catalogue } from "../../config/text.ts";

export const deployWords = {
  deploy: {
    about: [
      "deploy your own code: copied into a release, proved, and taken back by itself when it is bad",
      "자체 코드를 배포: 릴리스로 복사하고 확인하며, 나쁘면 스스로 되돌림",
    ],
    what: [
      "[SERVICE] and a directory, an archive or a git ref (default: all of your own services)",
      "[서비스]와 디렉터리, 아카이브 또는 git ref(기본: 자체 서비스 모두)",
    ],
    share: [
      "give it this part of the clients first (10%; 0%: all at once), as deploy.share in owl.yaml",
      "먼저 클라이언트의 이만큼만 맡김(10%; 0%: 한 번에 모두), owl.yaml의 deploy.share와 같음",
    ],
    plan: [
      "only show the steps and the time; nothing is copied (exit 10: there are changes)",
      "단계와 시간만 보여 주고 복사하지 않음(종료 코드 10: 바뀔 것이 있음)",
    ],
    badShare: (value: string) => [
      `${value} is no percentage such as 10% (0% to 99%).`,
      `${value}은(는) 10%와 같은 백분율(0%~99%)이 아닙니다.`,
    ],
    oneSource: [
      "Say one thing to deploy: owlctl deploy [SERVICE] DIR|ARCHIVE|GIT-REF",
      "배포할 것을 하나만 지정하십시오: owlctl deploy [서비스] 디렉터리|아카이브|GIT-REF",
    ],
  },
  stop: {
    about: ["stop a service or an instance, with its whole grace", "서비스나 인스턴스를 유예 시간을 다 주고 멈춤"],
    all: ["every service; owld and its proxy stay", "모든 서비스를 멈춤; owld와 프록시는 남음"],
    one: ["Name a service or an instance, or say --all.", "서비스나 인스턴스를 하나 지정하거나 --all을 쓰십시오."],
  },
  top: { about: ["live: what works hardest first", "실시간: 가장 바쁜 것부터"] },
  run: {
    about: [
      "run a program once in a service's environment: its variables, user, directory, release (-- CMD)",
      "서비스의 환경(변수, 사용자, 디렉터리, 릴리스)에서 프로그램을 한 번 실행(-- 명령)",
    ],
    command: [
      "the program and its arguments, after --; without it a service with a schedule runs now",
      "-- 뒤에 프로그램과 인자. 없으면 schedule이 있는 서비스를 지금 실행",
    ],
  },
  exec: {
    about: [
      "the same with the environment of an instance that serves (-- CMD)",
      "서비스 중인 인스턴스의 환경에서 실행(-- 명령)",
    ],
  },
  env: { about: ["variables of a service, secrets masked", "서비스의 환경 변수(비밀은 가림)"] },
  releases: {
    about: ["releases of your own code, and which of them runs", "자체 코드의 릴리스와 실행 중인 릴리스"],
    none: ["Nothing was deployed yet.", "아직 배포된 것이 없습니다."],
    columns: [
      ["RELEASE", "MADE", "FILES", "SIZE", "SHA256", "SERVES", "STOOD FOR", "FROM"],
      ["릴리스", "만든 때", "파일", "크기", "SHA256", "서비스", "버틴 서비스", "출처"],
    ],
  },
  rollback: {
    about: ["go back to an earlier release, of your own code or of Owl", "자체 코드나 Owl의 이전 릴리스로 되돌림"],
    target: [
      "a service of yours, or a version of Owl (default: the one of Owl that ran before this one)",
      "자체 서비스 또는 Owl의 버전(기본: 바로 전에 실행되던 Owl)",
    ],
    to: [
      "of a service: to this release (default: the newest older one that stood)",
      "서비스를 이 릴리스로(기본: 안정적으로 실행된 바로 이전 것)",
    ],
    toNeedsService: [
      "--to names a release of a service: owlctl rollback SERVICE --to RELEASE",
      "--to는 서비스의 릴리스를 가리킵니다: owlctl rollback SERVICE --to RELEASE",
    ],
    plan: [
      "say what would happen and what would be lost (exit 10: there are changes)",
      "무엇을 하고 무엇을 잃는지만 보입니다 (변경이 있으면 종료 코드 10)",
    ],
    ask: ["Go back now?", "지금 되돌릴까요?"],
  },
} satisfies Catalogue;
