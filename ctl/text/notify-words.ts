// What owlctl says of notifications.

import type { Catalogue } from "../../config/text.ts";

export const notifyWords = {
  notify: {
    about: ["whom owld tells by itself (notify in owl.yaml)", "owld가 스스로 알리는 곳(owl.yaml의 notify)"],
    test: ["send a test by mail and webhook, now", "메일과 웹훅으로 시험 알림을 지금 보냄"],
  },
} satisfies Catalogue;
