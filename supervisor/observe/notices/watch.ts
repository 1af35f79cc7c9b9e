// Tells people by itself what they must know (notify in owl.yaml): looks, writes down, sends, writes down.
// Invariants: nothing of owld waits for a message; without `notify` no look is taken and nothing is kept.

import { hostname } from "node:os";
import type { Config } from "../../../config/config.ts";
import { createLoop, type Running } from "../../../config/running.ts";
import { isServing } from "../../core/instance.ts";
import { type Matter, mattersOf } from "../../core/matters.ts";
import {
  beginNotices,
  CHANNELS,
  type Channel,
  dueNotice,
  isQuiet,
  type Notice,
  noteMatters,
  noteTold,
  restMs,
  withKinds,
} from "../../core/notices.ts";
import { isCrashLooping } from "../../core/restart-policy.ts";
import { Refusal } from "../../core/text/refusal.ts";
import type { Backups } from "../../postgres/backups/service.ts";
import { readCertificate } from "../../preflight/certificate.ts";
import { diskFacts } from "../../preflight/machine-facts.ts";
import type { RolloutRunner } from "../../rollouts/record.ts";
import { endFact, keepFact, readFact } from "../../state/facts.ts";
import type { Foundation } from "../../state/foundation.ts";
import { channelsOf, send } from "./channels.ts";
import { messageOf, testMessage } from "./message.ts";

const LOOK_MS = 15_000;
/** How long one on its way may keep owld from ending. */
const END_MS = 3_000;

interface NoticesParts {
  readonly ground: Pick<Foundation, "clock" | "store" | "journal" | "book" | "warnings" | "record" | "warned">;
  readonly config: () => Config;
  readonly rollouts: Pick<RolloutRunner, "recent">;
  readonly backups: Pick<Backups, "status">;
}

export interface Notices extends Running {
  /** Sends a test by every channel, now; throws `notify.off`, `notify.failed`. */
  test(): Promise<readonly Channel[]>;
}

export function createNotices(parts: NoticesParts): Notices {
  const { clock, store, warnings, record: text, warned } = parts.ground;
  const ended = new AbortController();
  const cut = new AbortController();
  const sending = new Map<Channel, Promise<void>>();
  const failures = new Map<Channel, { readonly count: number; readonly againMs: number }>();

  async function matters(sinceMs: number): Promise<readonly Matter[]> {
    const { book, journal } = parts.ground;
    const config = parts.config();
    const monotonicMs = clock.monotonicMs();
    const services = config.services.map(({ name, routes }) => {
      const own = book.all().filter(({ service }) => service === name);
      const looping = own.some((one) => isCrashLooping(one, monotonicMs));
      return { name, looping, down: routes.length > 0 && !own.some(isServing) };
    });
    const backup = config.usesDatabase && config.database === null ? parts.backups.status() : null;
    const facts = {
      nowMs: clock.now(),
      sinceMs,
      rollouts: parts.rollouts.recent(20),
      events: journal.read(200),
      services,
      disk: await diskFacts(config, null),
      unwritable: store.failing(),
      certificate: readCertificate(config),
      backup:
        backup === null || config.backup === null
          ? null
          : { lastAtMs: backup.last && Date.parse(backup.last.at), everyMs: config.backup.everyMs },
      warnings,
    };
    return mattersOf(facts, text).filter(({ kind }) => config.notify?.events.includes(kind));
  }

  async function look(): Promise<void> {
    const { notify } = parts.config();
    const wanted = notify === null ? [] : channelsOf(notify);
    for (const channel of CHANNELS) if (!wanted.includes(channel)) settle(channel);
    const before = readFact(store, "notices");
    if (notify === null) {
      if (before !== null) endFact(store, "notices");
      return;
    }
    const known = before ?? beginNotices(clock.now());
    const found = await matters(known.sinceMs);
    // Read anew: what was told meanwhile is on it.
    const now = readFact(store, "notices") ?? known;
    const next = noteMatters(withKinds(now, notify.events), found, wanted, clock.now());
    if (next !== now || before === null) keepFact(store, "notices", next);
    for (const channel of wanted) {
      if (sending.has(channel) || clock.monotonicMs() < (failures.get(channel)?.againMs ?? 0)) continue;
      const nowMs = clock.now();
      const notice = dueNotice(next, channel, { nowMs, quiet: isQuiet(notify.quiet, nowMs) });
      if (notice === null) continue;
      const way = { notify, clock, signal: cut.signal };
      const done = send(channel, messageOf(notice, hostname(), text), way)
        .then((why) => settleSent(channel, notice, why))
        .catch(warned("what was told was not written down"))
        .finally(() => sending.delete(channel));
      sending.set(channel, done);
    }
  }

  function settleSent(channel: Channel, notice: Notice, why: string | null): void {
    if (cut.signal.aborted) return;
    if (why !== null) {
      const count = (failures.get(channel)?.count ?? 0) + 1;
      failures.set(channel, { count, againMs: clock.monotonicMs() + restMs(count) });
      warnings.set(`notify ${channel}`, ({ notices }) => notices.failing(notices.channels[channel], why));
      return;
    }
    settle(channel);
    const record = readFact(store, "notices");
    if (record !== null) keepFact(store, "notices", noteTold(record, channel, notice, clock.now()));
  }

  function settle(channel: Channel): void {
    failures.delete(channel);
    warnings.delete(`notify ${channel}`);
  }

  const looking = createLoop({ clock, everyMs: LOOK_MS, runOnce: look, failed: warned("notices were not looked at") });

  return {
    ...looking,
    async stop() {
      ended.abort();
      await looking.stop();
      const cancel = clock.after(END_MS, () => cut.abort(new Error("owld ends")), { unref: true });
      await Promise.all(sending.values());
      cancel();
    },
    async test() {
      const { notify } = parts.config();
      if (notify === null) throw new Refusal("notify.off", ({ notices }) => notices.off());
      const message = testMessage(hostname(), clock.now(), text);
      const way = { notify, clock, signal: ended.signal };
      const wanted = channelsOf(notify);
      const tried = await Promise.all(
        wanted.map(async (channel) => ({ channel, why: await send(channel, message, way) })),
      );
      const failed = tried.flatMap(({ channel, why }) => (why === null ? [] : [{ channel, why }]));
      if (failed.length > 0)
        throw new Refusal("notify.failed", ({ notices }) =>
          notices.failed(failed.map(({ channel, why }) => ({ channel: notices.channels[channel], why }))),
        );
      for (const channel of wanted) settle(channel);
      return wanted;
    },
  };
}
