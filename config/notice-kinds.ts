// What owld tells people of by itself: the words of `notify.events`.

export const NOTICE_KINDS = [
  "rollout",
  "update",
  "crash-loop",
  "worker",
  "disk",
  "database",
  "certificate",
  "backup",
  "drill",
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];
