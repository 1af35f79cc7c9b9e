// Schedules and their ticks.

import { z } from "zod";
import { id, instant, list, pageOf, text } from "./parts.ts";

const tickOutcome = z.enum(["started", "waiting", "skipped", "missed", "refused"]);

const EXAMPLE = {
  name: "Late orders",
  cron: "0 9 * * 1-5",
  zone: "Asia/Seoul",
  text: "Which orders are late?",
  missed: "once",
  overlap: "skip",
};

const cron = text.min(1).max(100).describe("Minute, hour, day of month, month, day of week.");
const zone = text.min(1).max(64).describe("An IANA name; the clock's changes there are followed.");

export const newSchedule = z
  .strictObject({
    name: text.min(1).max(200).regex(/\S/, "holds no text"),
    cron,
    zone,
    text: text.min(1).max(20_000).regex(/\S/, "holds no text").optional().describe("A question to ask."),
    conversationId: id.nullish().describe("Where it is asked; absent: in a new conversation each time."),
    playbookId: id.optional().describe("A playbook to run, instead of a question."),
    missed: z
      .enum(["skip", "once"])
      .optional()
      .describe("Runs that nobody could start in time: left out (the default), or made up for by one."),
    overlap: z
      .enum(["skip", "queue"])
      .optional()
      .describe("While the run before goes on: left out (the default), or begun after it (one at most waits)."),
    jitterS: z.int().min(0).max(3_600).optional().describe("Begun at a random moment within as many seconds."),
  })
  .refine((body) => (body.text === undefined) !== (body.playbookId === undefined), "names either text or playbookId")
  .refine((body) => body.text !== undefined || !body.conversationId, "names a conversation for a playbook")
  .meta({ examples: [EXAMPLE] });
export type NewSchedule = z.infer<typeof newSchedule>;

export const schedule = z.object({
  id,
  name: text,
  cron: text,
  zone: text,
  text: text.nullable(),
  conversationId: id.nullable(),
  playbookId: id.nullable(),
  missed: z.enum(["skip", "once"]),
  overlap: z.enum(["skip", "queue"]),
  jitterS: z.int(),
  paused: z.boolean(),
  nextAt: instant.nullable().describe("Null: paused, or it never comes again."),
  createdAt: instant,
  isRunning: z.boolean(),
  lastTick: z.object({ tickAt: instant, outcome: tickOutcome }).nullable(),
  failuresInRow: z
    .int()
    .describe("How many of the newest runs failed or were refused, one after the other (10 at most)."),
});
export type Schedule = z.infer<typeof schedule>;
export const schedulePage = pageOf(schedule);

/** As an operator sees it. */
export const operatorSchedule = schedule.extend({ user: text });
export const operatorSchedules = z.object({ items: list(operatorSchedule) });

const tick = z.object({
  tickAt: instant,
  untilAt: instant.nullable().describe("It stands for the ticks before this one too."),
  outcome: tickOutcome,
  reason: z.enum(["overlap", "conversation", "limit", "gone"]).nullable(),
  byHand: z.boolean(),
  turnId: id.nullable(),
  conversationId: id.nullable(),
  runId: id.nullable(),
  state: text.nullable().describe("Of its turn or run."),
  message: text.nullable(),
});
export type Tick = z.infer<typeof tick>;
export const tickPage = pageOf(tick);

export const schedulePlanQuery = z
  .strictObject({ cron, zone })
  .meta({ examples: [{ cron: "0 9 * * 1-5", zone: "UTC" }] });
export const schedulePlan = z.object({ next: list(instant) });
export type SchedulePlan = z.infer<typeof schedulePlan>;
export const scheduleRun = z.object({
  scheduleId: id,
  turnId: id.nullable(),
  conversationId: id.nullable(),
  runId: id.nullable(),
});
export type ScheduleRun = z.infer<typeof scheduleRun>;
