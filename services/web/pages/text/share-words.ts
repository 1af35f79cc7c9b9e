// What is said of read-only links.

import type { Catalogue, With } from "../../../../config/text.ts";

export const shareWords = {
  "share.open": ["Share…", "공유…"],
  "share.title": ["Share this chat", "대화 공유"],
  "share.text": [
    "A link shows the chat as it stands now, with its answers and their tables, and nothing that comes later. Of attached files it shows the names.",
    "링크는 지금까지의 대화와 답변, 표를 보여줍니다. 이후의 내용은 보이지 않고, 첨부 파일은 이름만 보입니다.",
  ],
  "share.off": ["Links are switched off in this installation.", "이 서버에서는 링크 공유를 사용할 수 없습니다."],
  "share.who": ["Who may read it", "볼 수 있는 사람"],
  "share.team": ["Everybody with an account here", "이 서버의 모든 계정"],
  "share.anyone": ["Anyone who has the link", "링크가 있는 모든 사람"],
  "share.for": ["For", "기간"],
  "share.days": (v: With<"days">) => [v.days === 1 ? "1 day" : `${v.days} days`, `${v.days}일`],
  "share.make": ["Make a link", "링크 만들기"],
  "share.link": ["The link", "링크"],
  "share.once": ["Copy it now: it is not shown again.", "지금 복사해주세요. 다시 보여주지 않습니다."],
  "share.links": ["Links to this chat", "이 대화의 링크"],
  "share.until": (v: With<"at">) => [`until ${v.at}`, `${v.at}까지`],
  "share.end": ["End", "종료"],
  "share.by": (v: With<"name" | "at">) => [
    `Shared by ${v.name}, to read until ${v.at}`,
    `${v.name} 님이 공유한 대화입니다. ${v.at}까지 볼 수 있습니다.`,
  ],
  "share.gone": ["There is nothing behind this link", "링크를 열 수 없습니다"],
  "share.goneText": [
    "It has ended, was ended by its owner, or was not copied whole.",
    "기간이 끝났거나 소유자가 종료했거나, 주소가 잘못 복사되었습니다.",
  ],
} satisfies Catalogue;
