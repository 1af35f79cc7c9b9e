// What owld tells people by mail and webhook without being asked. Pure.

import type { Catalogue } from "../../../config/text.ts";

export const noticeWords = {
  rollout: (id: string, why: string) => [
    `Rollout ${id} failed: ${why} See: owlctl rollout show ${id}`,
    `롤아웃 ${id}이(가) 실패했습니다: ${why} 보기: owlctl rollout show ${id}`,
  ],
  update: (id: string, why: string) => [
    `The update (rollout ${id}) failed: ${why} See: owlctl rollout show ${id}`,
    `업데이트(롤아웃 ${id})가 실패했습니다: ${why} 보기: owlctl rollout show ${id}`,
  ],
  disk: (path: string, free: string, needed: string) => [
    `The disk is nearly full: ${free} are free for ${path}, ${needed} are needed.`,
    `디스크가 거의 찼습니다: ${path}에 ${free}만 남았고 ${needed}가 필요합니다.`,
  ],
  backupMissing: (last: string | null) => [
    last === null ? "No backup was ever finished." : `No backup was finished since ${last}.`,
    last === null ? "끝난 백업이 하나도 없습니다." : `${last} 뒤로 끝난 백업이 없습니다.`,
  ],
  subject: (host: string, first: string, more: number) => [
    `[Owl ${host}] ${first}${more === 0 ? "" : ` (and ${more} more)`}`,
    `[Owl ${host}] ${first}${more === 0 ? "" : ` (외 ${more}건)`}`,
  ],
  begun: (at: string, sentence: string) => [`Since ${at}: ${sentence}`, `${at}부터: ${sentence}`],
  over: (from: string, until: string, sentence: string) => [
    `Is over (${from} to ${until}): ${sentence}`,
    `끝났습니다(${from}부터 ${until}까지): ${sentence}`,
  ],
  isOver: (sentence: string) => [`Is over: ${sentence}`, `끝남: ${sentence}`],
  look: (host: string) => [`To look, on ${host}: owlctl status`, `${host}에서 확인: owlctl status`],
  test: ["This is a test: owld reaches you here.", "시험 알림입니다. owld의 알림이 이곳에 닿습니다."],
  channels: { mail: ["Mail", "메일"], webhook: ["The webhook", "웹훅"] },
  taken: (channel: string) => [`${channel} took it.`, `${channel}: 보냈습니다.`],
  failing: (channel: string, why: string) => [
    `${channel} cannot be told (${why}); it is tried again. Try: owlctl notify test`,
    `${channel} 알림을 보내지 못해(${why}) 다시 시도합니다. 확인: owlctl notify test`,
  ],
  off: () => ({
    sentence: ["Nobody is told of anything: owl.yaml has no notify.", "owl.yaml에 notify가 없어 알릴 곳이 없습니다."],
    next: [
      "Name somebody (notify: {webhook: {url: https://example.org/hook}}), then: owlctl reload",
      "받을 곳을 적고(notify: {webhook: {url: https://example.org/hook}}) 이어서: owlctl reload",
    ],
  }),
  failed: (channels: readonly { readonly channel: string; readonly why: string }[]) => ({
    sentence: [
      channels.map(({ channel, why }) => `${channel} did not take it: ${why}.`).join(" "),
      channels.map(({ channel, why }) => `${channel}: 보내지 못했습니다(${why}).`).join(" "),
    ],
    next: [
      "Check mail.smtp, notify.mail and notify.webhook in owl.yaml.",
      "owl.yaml의 mail.smtp, notify.mail, notify.webhook을 확인하십시오.",
    ],
  }),
} satisfies Catalogue;
