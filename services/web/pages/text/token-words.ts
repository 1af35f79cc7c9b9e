// What the pages say of API tokens.

import type { Catalogue, With } from "../../../../config/text.ts";

export const tokenWords = {
  "tokens.title": ["API tokens", "API 토큰"],
  "tokens.text": [
    "For scripts: sent as “Authorization: Bearer”, each with the rights you choose. Changing your password does not revoke them.",
    "스크립트에서 “Authorization: Bearer”로 보내는 토큰입니다. 권한을 골라 줄 수 있고, 비밀번호를 바꿔도 폐기되지 않습니다.",
  ],
  "tokens.none": ["You have none.", "토큰이 없습니다."],
  "tokens.add": ["New token", "새 토큰"],
  "tokens.make": ["Make it", "만들기"],
  "tokens.name": ["What it is for", "용도"],
  "tokens.scopes": ["It may", "권한"],
  "tokens.scope.chat:read": ["read conversations and answers", "대화와 답변 읽기"],
  "tokens.scope.chat:write": [
    "ask, attach files, change and delete conversations",
    "질문, 파일 첨부, 대화 변경과 삭제",
  ],
  "tokens.scope.recordings:read": ["read transcripts and batches", "전사 결과와 일괄 작업 읽기"],
  "tokens.scope.recordings:write": ["upload and transcribe recordings", "녹음 업로드와 전사"],
  "tokens.scope.playbooks:read": ["read playbooks, runs and schedules", "플레이북, 실행, 예약 읽기"],
  "tokens.scope.playbooks:write": ["change and run playbooks", "플레이북 변경과 실행"],
  "tokens.scope.schemas:read": ["read schema analyses", "스키마 분석 읽기"],
  "tokens.scope.schemas:write": ["start schema analyses", "스키마 분석 시작"],
  "tokens.expiry": ["Valid for", "유효 기간"],
  "tokens.days": ({ days }: With<"days">) => [`${days} days`, `${days}일`],
  "tokens.password": ["Your present password", "현재 비밀번호"],
  "tokens.until": ({ when }: With<"when">) => [`until ${when}`, `${when}까지`],
  "tokens.expired": ["expired", "만료됨"],
  "tokens.used": ({ when }: With<"when">) => [`last used ${when}`, `마지막 사용 ${when}`],
  "tokens.unused": ["never used", "사용한 적 없음"],
  "tokens.revoke": ["Revoke", "폐기"],
  "tokens.revokeTitle": ({ name }: With<"name">) => [`Revoke “${name}”?`, `“${name}” 토큰을 폐기할까요?`],
  "tokens.revokeText": [
    "Whatever uses it is refused from now on. This cannot be undone.",
    "이 토큰을 쓰는 모든 요청이 바로 거부되며, 되돌릴 수 없습니다.",
  ],
  "tokens.keep": ["Keep it", "그대로 두기"],
  "tokens.made": [
    "Copy it now: it is shown this once and stored nowhere.",
    "지금 복사해 두세요. 이 토큰은 한 번만 표시되며 어디에도 저장되지 않습니다.",
  ],
  "limit.tokens": ({ limit }: With<"limit">) => [
    `You have ${limit} API tokens already. Revoke one of them.`,
    `API 토큰이 이미 ${limit}개입니다. 하나를 폐기하세요.`,
  ],
} satisfies Catalogue;
