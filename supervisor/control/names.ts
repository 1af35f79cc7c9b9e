// Refusals of unknown names, always with the nearest name that exists. Pure.

import { nearest } from "../../config/nearest.ts";
import { Refusal } from "../core/text/refusal.ts";

/** The error for a service nobody configured. `known`: names of all services. */
export function unknownService(name: string, known: readonly string[]): Refusal {
  return unknown("service", name, known);
}

/** The error for an instance (or `owlctl why|start|stop|logs` target) that does not exist. */
export function unknownInstance(name: string, known: readonly string[]): Refusal {
  return unknown("instance", name, known);
}

/** The error for a rollout id that was never given. `known`: ids, newest first. */
export function unknownRollout(id: string, known: readonly string[]): Refusal {
  return unknown("rollout", id, known);
}

function unknown(kind: "service" | "instance" | "rollout", name: string, known: readonly string[]): Refusal {
  const near = nearest(name, known);
  const listed = `${known.slice(0, 10).join(", ")}${known.length > 10 ? ", …" : ""}`;
  return new Refusal(
    `${kind}.unknown`,
    ({ refused }) => ({
      sentence: refused.unknown(kind, name),
      next: near !== null ? refused.didYouMean(near) : known.length > 0 ? refused.known(listed) : refused.noneYet,
    }),
    { data: { name, nearest: near } },
  );
}
