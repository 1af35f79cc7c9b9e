// The second factor of an account: a code that changes by time, and recovery codes for a lost device.

import { z } from "zod";
import { count, instant, list, text } from "./parts.ts";

export const RECOVERY_CODES = 10;

const password = text.min(1).max(1_000).describe("The account's present one.");
/** Six digits, or a recovery code; how it is written with spaces and hyphens does not matter. */
export const oneTimeCode = text.min(6).max(32);

export const secondFactor = z.object({
  since: instant.nullable().describe("Null: it is off."),
  recoveryCodes: count.describe("How many are left."),
});
export type SecondFactor = z.infer<typeof secondFactor>;

export const beginSecondFactor = z.strictObject({ password });
export const secondFactorBegun = z.object({
  secret: text.describe("For the authenticator app, as text."),
  uri: text.describe("The same for a QR code."),
});
export type SecondFactorBegun = z.infer<typeof secondFactorBegun>;

export const confirmSecondFactor = z.strictObject({ code: oneTimeCode });
export const recoveryCodes = z.object({ recoveryCodes: list(text).describe("Each is taken once; shown once.") });
export type RecoveryCodes = z.infer<typeof recoveryCodes>;

export const endSecondFactor = z.strictObject({ password, code: oneTimeCode });
