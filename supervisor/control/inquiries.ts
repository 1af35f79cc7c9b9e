// What operators ask and nothing changes by: events, logs, the reason why, the preflight, the configuration.

import { readdirSync } from "node:fs";
import type { Config } from "../../config/config.ts";
import type { HomePaths } from "../../config/home.ts";
import { shownConfig } from "../../config/shown.ts";
import { isServing, PROXY } from "../core/instance.ts";
import type { Preflight } from "../ports.ts";
import type { Journal } from "../rollouts/journal.ts";
import type { Control } from "./control.ts";
import { eventStream } from "./event-lines.ts";
import { unknownInstance } from "./names.ts";
import { explain, type WhyParts } from "./why.ts";

interface InquiryParts extends WhyParts {
  readonly journal: Journal;
  readonly preflight: Preflight;
  readonly paths: Pick<HomePaths, "logs">;
}

type Inquiries = Pick<Control, "events" | "logs" | "why" | "preflight" | "config" | "appTarget">;

export function createInquiries(parts: InquiryParts): Inquiries {
  const { book } = parts;
  const services = (): Config["services"] => parts.config().services;
  /** Instances whose log is still there. */
  const logged = (): string[] =>
    readdirSync(parts.paths.logs).flatMap((file) => (file.endsWith(".log") ? [file.slice(0, -4)] : []));
  const serviceNames = (): string[] => services().map(({ name }) => name);
  return {
    events: async (query, signal) => eventStream(parts.journal, query, signal),
    async logs({ target, ...rest }, signal) {
      const known = [...new Set([...logged(), ...book.all().map(({ id }) => id)])];
      const isService = target !== null && (serviceNames().includes(target) || target === PROXY);
      const instances = known.filter(
        (id) => target === null || id === target || (isService && id.replace(/-\d+$/, "") === target),
      );
      if (instances.length === 0 && target !== null && !isService)
        throw unknownInstance(target, [...serviceNames(), ...known]);
      return parts.logs.read({ ...rest, instances }, signal);
    },
    why: async (target, text) => await explain(parts, target, [...serviceNames(), PROXY], text),
    preflight: (text) => parts.preflight.run(text),
    config: async () => ({ file: parts.config().file, config: shownConfig(parts.config()) }),
    appTarget() {
      const bundled = new Set(
        services()
          .filter((one) => one.bundled && one.routes.length > 0)
          .map(({ name }) => name),
      );
      return book.all().find((one) => bundled.has(one.service) && isServing(one))?.target ?? null;
    },
  };
}
