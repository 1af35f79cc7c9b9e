// What the environment says over owl.yaml: OWL_PORT, OWLAI_BACKEND_REPLICAS, OWLAI_WORKER_REPLICAS, OWLAI_WEB_WORKERS, OWL_LANG.

import { type Environment, given } from "./locate.ts";
import type { ConfigProblem } from "./problems.ts";

export interface Overrides {
  readonly port: number | null;
  readonly webReplicas: number | null;
  readonly workerReplicas: number | null;
  /** Multiplies the web replicas, wherever those come from. */
  readonly webWorkers: number;
  /** User for services that name none (set by the systemd unit). */
  readonly servicesUser: string | null;
}

/** Reads the overrides; what is not a number in its range goes to `problems`. */
export function readOverrides(env: Environment, problems: ConfigProblem[]): Overrides {
  const whole = (name: string, least: number, most: number): number | null => {
    const text = given(env[name]);
    if (text === null) return null;
    const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    problems.push({
      where: `environment ${name}`,
      message: `expected a whole number from ${least} to ${most}, got ${JSON.stringify(text)}`,
    });
    return null;
  };
  const language = given(env.OWL_LANG);
  if (language !== null && !/^(ko|en)\b|^(ko|en)_/i.test(language)) {
    problems.push({ where: "environment OWL_LANG", message: `expected ko or en, got ${JSON.stringify(language)}` });
  }
  return {
    port: whole("OWL_PORT", 1, 65_535),
    webReplicas: whole("OWLAI_BACKEND_REPLICAS", 0, 1_000),
    workerReplicas: whole("OWLAI_WORKER_REPLICAS", 0, 1_000),
    webWorkers: whole("OWLAI_WEB_WORKERS", 1, 64) ?? 1,
    servicesUser: given(env.OWL_SERVICES_USER),
  };
}
