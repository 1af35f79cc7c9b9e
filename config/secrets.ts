// Secrets by reference: `${NAME}` of the environment, `file:PATH`; and the masking of what was resolved.
// Invariant: a message of this file names variables and paths, never values.

import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { asError } from "./errors.ts";

type Resolved = { readonly value: string } | { readonly problem: string };

/** Replaces each `${NAME}` by the environment's value; `$${` stands for a literal `${`. A lone `$` is kept. */
export function fillFromEnvironment(text: string, env: Readonly<Record<string, string | undefined>>): Resolved {
  const missing: string[] = [];
  const value = text.replace(/\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (all, name: string | undefined) => {
    if (name === undefined) return all.slice(1);
    const filled = env[name];
    if (filled === undefined) missing.push(name);
    return filled ?? "";
  });
  if (missing.length === 0) return { value };
  return {
    problem: `${missing.map((name) => `\${${name}}`).join(", ")} is not set in the environment; set it, or write file:PATH`,
  };
}

/** A secret as owl.yaml writes it: `${NAME}` inside any text, or `file:PATH` (relative to owl.yaml's folder). */
export function resolveSecret(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
): Resolved {
  return text.startsWith("file:") ? readSecretFile(text.slice("file:".length), folder) : fillFromEnvironment(text, env);
}

/** The file's text without one trailing line end. */
function readSecretFile(path: string, folder: string): Resolved {
  const full = isAbsolute(path) ? path : join(folder, path);
  try {
    const value = readFileSync(full, "utf8").replace(/\r?\n$/, "");
    return value === "" ? { problem: `the secret file ${full} is empty` } : { value };
  } catch (error) {
    return { problem: `cannot read the secret file ${full}: ${reasonOf(error)}` };
  }
}

/** `no such file`, `permission denied`: a file system error in words. */
export function reasonOf(error: unknown): string {
  const code = (asError(error) as NodeJS.ErrnoException).code;
  const words: Readonly<Record<string, string>> = {
    ENOENT: "no such file",
    EACCES: "permission denied",
    EISDIR: "it is a directory",
    ENOTDIR: "a part of the path is no directory",
  };
  return words[code ?? ""] ?? asError(error).message;
}

const SECRET_NAME = /pass|secret|token|key|credential|auth|private|dsn|cookie|salt|pwd/i;

/** Whether a variable of that name is taken for a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** A URL with its password, and secret-looking query values, replaced by ***; not a URL: all of it. */
export function maskUrl(url: string): string {
  try {
    const parsed = new URL(url);
    if (parsed.password !== "") parsed.password = "***";
    for (const name of [...parsed.searchParams.keys()]) if (isSecretName(name)) parsed.searchParams.set(name, "***");
    return parsed.toString();
  } catch {
    return "***";
  }
}
