// The three ways to watch a rollout: JSON lines on standard output, plain lines, a live block on a terminal.

import type { Rollout, RolloutEvent } from "../../config/control-api.ts";
import type { Clock } from "../../config/time.ts";
import type { CommandDeps } from "../deps.ts";
import type { Text } from "../text/text.ts";
import type { RolloutView } from "../watch-rollout.ts";
import { elapsed } from "./figures.ts";
import { liveBlock } from "./live-block.ts";
import type { Paint } from "./terminal.ts";
import { pad } from "./width.ts";

/** The view for these options and this terminal. */
export function rolloutView(deps: CommandDeps, id: string, json: boolean): RolloutView {
  if (json) return jsonView(deps);
  return deps.terminal.errIsTerminal ? liveView(deps, id) : plainView(deps);
}

function jsonView({ terminal, text }: CommandDeps): RolloutView {
  return {
    event: (event) => terminal.out(JSON.stringify(event)),
    progress() {},
    gone: () => terminal.err(text.watch.gone),
    back: () => terminal.err(text.watch.back),
    close() {},
  };
}

function plainView({ terminal, text }: CommandDeps): RolloutView {
  return {
    event(event) {
      const message = event.message === undefined ? "" : `: ${event.message}`;
      terminal.err(`${event.at} ${event.instance} ${text.rollout.events[event.event]}${message}`);
    },
    progress() {},
    gone: () => terminal.err(text.watch.gone),
    back: () => terminal.err(text.watch.back),
    close() {},
  };
}

interface Progress {
  /** Per instance, in order of first appearance, its last event. */
  readonly last: Map<string, RolloutEvent>;
  rollout: Rollout | null;
  away: boolean;
}

function liveView({ terminal, text, clock }: CommandDeps, id: string): RolloutView {
  const progress: Progress = { last: new Map(), rollout: null, away: false };
  const startedMs = clock.monotonicMs();
  const block = liveBlock(terminal, clock, (frame) =>
    progressLines(progress, {
      id,
      text,
      paint: terminal.paintErr,
      clock,
      sinceMs: clock.monotonicMs() - startedMs,
      frame,
    }),
  );
  return {
    event(event) {
      // What a command of `before` says is read as it comes; of other steps the headline tells.
      if (event.event === "step" && event.instance === "before") {
        if (event.message !== undefined) block.above(event.message);
        return;
      }
      progress.last.set(event.instance, event);
      if (event.event === "failed" || event.event === "killed") {
        block.above(
          terminal.paintErr(
            `${event.instance} ${text.rollout.events[event.event]}${event.message ? `: ${event.message}` : ""}`,
            "red",
          ),
        );
      }
    },
    progress(rollout) {
      progress.rollout = rollout;
    },
    gone() {
      progress.away = true;
    },
    back() {
      progress.away = false;
    },
    close: () => block.close(),
  };
}

interface DrawContext {
  readonly id: string;
  readonly text: Text;
  readonly paint: Paint;
  readonly clock: Clock;
  readonly sinceMs: number;
  readonly frame: string;
}

/** The live block: a headline with elapsed and expected time and a bar, then a line a service. */
export function progressLines(progress: Progress, context: DrawContext): string[] {
  const { text, paint, clock, frame } = context;
  const { rollout } = progress;
  const kind = rollout === null ? "" : `${text.rollout.kinds[rollout.kind]} `;
  const sinceMs = rollout === null ? context.sinceMs : Math.max(0, clock.now() - Date.parse(rollout.startedAt));
  const estimate = rollout?.estimate
    ? text.rollout.expected(elapsed(rollout.estimate.expectedMs), elapsed(rollout.estimate.worstMs))
    : "";
  const head = `${paint(frame, "cyan")} ${paint(`${kind}${context.id}`, "bold")}  ${elapsed(sinceMs)}  ${paint(estimate, "dim")}`;
  const lines = [head];
  if (rollout !== null && rollout.steps.length > 0) {
    const done = rollout.steps.filter((step) => ["done", "skipped"].includes(step.state)).length;
    lines.push(`  ${bar(done / rollout.steps.length, 28, paint)} ${text.rollout.steps(done, rollout.steps.length)}`);
  }
  const services = new Map<string, string[]>();
  for (const event of progress.last.values()) {
    const since = Math.max(0, clock.now() - Date.parse(event.at));
    const waiting = event.event === "starting" || event.event === "draining" ? paint(` ${elapsed(since)}`, "dim") : "";
    const line = `${event.instance} ${paint(text.rollout.events[event.event], colourOf(event.event))}${waiting}`;
    services.set(event.service, [...(services.get(event.service) ?? []), line]);
  }
  const width = Math.max(0, ...[...services.keys()].map((name) => name.length));
  for (const [service, parts] of services) lines.push(`  ${pad(service, width)}  ${parts.slice(-6).join("   ")}`);
  if (progress.away) lines.push(paint(`  ${text.watch.gone}`, "yellow"));
  return lines;
}

function bar(share: number, width: number, paint: Paint): string {
  const full = Math.round(Math.min(1, share) * width);
  return `${paint("━".repeat(full), "green")}${paint("─".repeat(width - full), "dim")}`;
}

function colourOf(event: RolloutEvent["event"]): "red" | "green" | "yellow" | "dim" {
  if (event === "failed" || event === "killed") return "red";
  if (event === "draining" || event === "starting") return "yellow";
  return event === "stopped" ? "dim" : "green";
}
