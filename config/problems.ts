// What is wrong with a configuration: one line a problem, all of them at once, each with its place.
// Invariant: no message shows the value of a secret.

import { OwlError } from "./errors.ts";

export interface ConfigProblem {
  /** `owl.yaml:14:3`, `web.env:2:1` or `environment OWL_PORT`. */
  readonly where: string;
  readonly message: string;
}

/** Thrown for an unusable configuration; its message has one line a problem, exit code 78. */
export class ConfigError extends OwlError {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super("config.invalid", problems.map((problem) => `${problem.where}: ${problem.message}`).join("\n"), {
      next: "Correct it and look again with: owlctl config check",
      data: { problems },
    });
    this.problems = problems;
  }
}

/** A short picture of a value for "got …": type and, when it is short and no secret, the value. */
export function pictureOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") return value.length > 60 ? "a long text" : `the text ${JSON.stringify(value)}`;
  if (typeof value === "number") return `the number ${value}`;
  return String(value);
}
