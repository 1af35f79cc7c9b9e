// Who is signed in, and accounts as administrators see them.

import { z } from "zod";
import { instant, list, text } from "./parts.ts";
import { oneTimeCode } from "./second-factor.ts";

const role = z.enum(["administrator", "member"]);
/** Its length is judged where one is chosen (`password.weak`); here it is only bounded. */
const password = text.min(1).max(1_000);
const accountName = text.regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/);

export const session = z.object({
  name: text,
  role,
  initialPassword: z.boolean().describe("True until the account's first password was changed."),
  byProvider: z.boolean().describe("Signed in through the identity provider."),
  hasPassword: z.boolean(),
  language: z.enum(["ko", "en"]),
  models: list(text).describe("Names of the models to choose from, the usual one first."),
  visionModels: list(text).describe("Those of them that look at images."),
});
export type Session = z.infer<typeof session>;

export const signIn = z
  .strictObject({ name: text.min(1).max(64), password, code: oneTimeCode.optional() })
  .meta({ examples: [{ name: "admin", password: "correct horse battery" }] });
export const passwordChange = z.strictObject({ password, newPassword: password });

const held = z.object({
  turns: z.int().describe("Questions waiting or running."),
  runs: z.int().describe("Playbook runs and analyses in line."),
  recordings: z.int().describe("Recordings in line."),
  conversations: z.int(),
  playbooks: z.int(),
  uploads: z.int().describe("Uploads that are not complete."),
  uploadBytes: z.int().describe("Announced for them."),
  attachments: z.int().describe("Attached files that were not sent."),
  storedBytes: z.int().describe("Recordings and attached files."),
});

export const ownUsage = z.object({
  limits: held.describe("What an account may hold (`limits` of owl.yaml)."),
  usage: held,
  month: z
    .object({
      inputTokens: z.number(),
      outputTokens: z.number(),
      cost: z.number(),
      budget: z.number().nullable().describe("What it may cost; null: anything."),
    })
    .describe("What one's chats used since the first of the month (UTC), of models with a price."),
});
export type OwnUsage = z.infer<typeof ownUsage>;

const user = z.object({
  name: text,
  role,
  disabled: z.boolean(),
  initialPassword: z.boolean(),
  provider: text.nullable().describe("The identity provider the account comes from."),
  createdAt: instant,
  usage: held,
});
export type User = z.infer<typeof user>;
export const users = z.object({
  limits: held.describe("What each of them may hold (`limits` of owl.yaml)."),
  items: list(user),
});
export type Users = z.infer<typeof users>;

export const newUser = z
  .strictObject({ name: accountName, role, password: password.optional() })
  .meta({ examples: [{ name: "mina", role: "member" }] });
export const newPassword = z.strictObject({ password: password.optional() }).nullish();
export const userMade = z.object({
  name: text,
  password: text.nullable().describe("The one-time password, when none was given; shown once."),
});
export type UserMade = z.infer<typeof userMade>;
export const userParams = z.object({ name: text.max(64) });

/** Accounts as owlctl names them. */
const operatorRole = z.enum(["admin", "user"]);
export const newOperatorUser = z.strictObject({
  name: accountName,
  role: operatorRole.optional(),
  password: password.optional(),
});
export const operatorUsers = z.object({
  items: list(z.object({ name: text, role: operatorRole, disabled: z.boolean(), createdAt: instant })),
});
export const operatorSwitched = z.object({ name: text, disabled: z.boolean() });
