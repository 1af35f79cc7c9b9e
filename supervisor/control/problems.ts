// The control API's only translator: a caught error -> problem document (RFC 9457) with its status.
// Invariant: nobody outside ever sees a stack or the message of an error that is not an OwlError.

import type { Problem } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { wordsOf } from "../core/text/refusal.ts";
import type { Text } from "../core/text/text.ts";

/** Codes with a status of their own; the rest goes by the ending below, then 500. */
const STATUS: Readonly<Record<string, number>> = {
  "request.invalid": 400,
  "request.tooLarge": 413,
  "method.notAllowed": 405,
  "config.invalid": 422,
  "budget.exceeded": 409,
  "preflight.failed": 409,
  "service.stopped": 409,
  "rollout.ended": 409,
  "backup.off": 409,
  "backup.notNow": 409,
  "notify.off": 409,
  "notify.failed": 502,
  "supervisor.stopping": 503,
  "app.unavailable": 503,
  "disk.full": 507,
};
const ENDINGS: readonly (readonly [string, number])[] = [
  [".unknown", 404],
  [".busy", 409],
  [".invalid", 422],
];

/** The problem document of anything thrown, in the language of `text`. A bug is told as `internal`; its text is for the log alone. */
export function toProblem(caught: unknown, text: Text): Problem {
  if (!(caught instanceof OwlError)) {
    const internal = text.refused.internal();
    return {
      type: "urn:owl:problem:internal",
      title: "Internal error",
      status: 500,
      code: "internal",
      detail: internal.sentence,
      next: internal.next,
    };
  }
  const { sentence, next } = wordsOf(caught, text);
  const refused = /^(release|update|rollback|copy|deploy|run)\./.test(caught.code) ? 409 : null;
  const status = STATUS[caught.code] ?? ENDINGS.find(([ending]) => caught.code.endsWith(ending))?.[1] ?? refused ?? 500;
  return {
    type: `urn:owl:problem:${caught.code}`,
    title: TITLES[status] ?? "Failed",
    status,
    code: caught.code,
    detail: sentence,
    ...(next === undefined ? {} : { next }),
    ...(Object.keys(caught.data).length === 0 ? {} : { data: caught.data }),
  };
}

/** True for what is worth a line in owld's log: not a refusal of the caller's doing. */
export function isOurFault(problem: Problem): boolean {
  return problem.status === 500 || problem.status === 507;
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  404: "Not found",
  405: "Method not allowed",
  409: "Refused",
  413: "Too large",
  422: "Invalid",
  500: "Failed",
  502: "Not taken",
  503: "Not now",
  507: "Disk full",
};
