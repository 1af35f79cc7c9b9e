// `notify` of owl.yaml -> whom owld tells by itself what a person must know, and when it keeps still.

import type { Reading } from "./complete-app.ts";
import { DEFAULTS } from "./defaults.ts";
import { NOTICE_KINDS } from "./notice-kinds.ts";
import type { NotifyConfig } from "./notify-config.ts";
import type { OwlYaml } from "./schema.ts";

export function completeNotify({ notify: raw, mail }: OwlYaml, read: Reading): NotifyConfig | null {
  if (raw === undefined) return null;
  if (raw.mail === undefined && raw.webhook === undefined)
    read.say(["notify"], "notify names nobody to tell: give notify.mail.to or notify.webhook.url");
  if (raw.mail !== undefined && mail === undefined)
    read.say(["notify", "mail"], "notify.mail needs a mail server: give mail.smtp");
  return {
    mail:
      raw.mail === undefined || mail === undefined
        ? null
        : {
            to: raw.mail.to,
            smtp: read.url(["mail", "smtp"], mail.smtp, ["smtp", "smtps"]),
            from: mail.from ?? DEFAULTS.mailFrom,
          },
    webhook:
      raw.webhook === undefined
        ? null
        : { url: read.url(["notify", "webhook", "url"], raw.webhook.url, ["http", "https"]) },
    quiet: raw.quiet ?? null,
    events: raw.events ?? NOTICE_KINDS,
  };
}
