// What owld says to operators, in English; ko.ts says the same in Korean (the compiler refuses a missing line). Pure.
// Invariant: scripts match these English sentences: one changes only on purpose.

import type { InstanceState } from "../../../config/control-api.ts";
import type { Language } from "../../../config/language.ts";
import { preflightEn } from "./preflight-en.ts";
import { recordedEn } from "./recorded-en.ts";
import { refusedEn } from "./refused-en.ts";

export const en = {
  language: "en" as Language,
  preflight: preflightEn,
  refused: refusedEn,
  recorded: recordedEn,
  seconds: (n: number) => `${n} s`,
  minutes: (n: number) => `${n} min`,
  list: (parts: readonly string[]) => parts.join("; "),
  plan: {
    overLimit: (peak: number, limit: number) =>
      `At its peak ${peak} connections are declared, over the server's ${limit}: one more than replicas cannot be narrowed further.`,
    count: (service: string, from: number, to: number) => `${service}: ${from} to ${to}.`,
  },
  reload: {
    isNew: (service: string, replicas: number) => `${service} is new: ${replicas} are started.`,
    isGone: (service: string) => `${service} is gone: its instances are stopped.`,
    takenOver: (service: string) => `${service}: taken over without a restart.`,
    replaced: (service: string, count: number) => `${service}: ${count} are replaced, for what runs has changed.`,
    proxy: "The proxy is replaced by one with its new settings.",
    home: "The state directory stays as it is until owld is started again.",
  },
  done: {
    started: (service: string) => `${service} is started.`,
    startedInPlace: (service: string, instance: string) =>
      `An instance of ${service} is started in the place of ${instance}; numbers never repeat.`,
    stopped: (name: string) => `${name} is stopped; it stays so until: owlctl start ${name}`,
    killed: (instance: string) => `${instance} and its process group got SIGKILL.`,
    cut: (requests: number) =>
      requests === 0 ? "No request was in flight in it." : `${requests} requests in flight in it were cut.`,
    reexec: "owld starts again; everything else runs on.",
  },
  warnings: {
    setAside: (path: string, reason: string) =>
      `The state file was set aside as ${path}: ${reason}. Processes are adopted by their marks.`,
    diskFull: (failing: string) =>
      `The state file cannot be written (${failing}): supervision goes on from memory, rollouts wait.`,
    database: (why: string) => `The database did not start: ${why}`,
    strays: (processes: string) =>
      `Processes of earlier instances nobody owns live on: ${processes}. End them by hand when they are not wanted.`,
    newerJobs: (count: number) =>
      `${count} ${count === 1 ? "job waits" : "jobs wait"} in a format that the running release does not know: turns among them are closed at their claim limit, the others wait. Update to the release they were accepted under: owlctl update ARCHIVE`,
    overDeclared: (instance: string, open: number, declared: number, service: string) =>
      `${instance} has ${open} connections open but declares ${declared}: raise services.${service}.connections.`,
  },
  why: {
    instance: (id: string, state: InstanceState, leaving: boolean, cause: string | null) =>
      `${id} is ${state}${leaving ? ", on its way out" : ""}${cause === null ? "" : `: ${cause}`}${cause?.endsWith(".") ? "" : "."}`,
    crashLooping: (service: string) =>
      `${service} is crash-looping: 5 crashes within 60 s. It is tried again every 30 s.`,
    noInstance: (service: string) => `${service} has no instance.`,
  },
  update: {
    steps: {
      stage: (to: string) => `${to} is unpacked and verified already`,
      preflight: "checks by the running and by the new code; one FAIL ends it here, nothing changed",
      compare: "done for this plan; done again then",
      migrate: (names: string) => `${names}, in one transaction beside the running processes`,
      migrateNone: "no migration; the new release's job queues are put in place",
      drain: (workers: number, grace: string) =>
        `${workers} ${workers === 1 ? "worker" : "workers"} asked to stop at once, each within ${grace}`,
      close: (grace: string) => `pages answer 503; web stops within ${grace}`,
      copyFiles: "PostgreSQL rests while its files are copied and verified",
      copyDump: "pg_dump of Owl's schemas, read back before it counts",
      copySize: (size: string) => ` (the data: ${size}; so much free disk and some more is needed)`,
      migrateClosed: (names: string) => `${names || "the queue's own schema"}; nothing runs meanwhile`,
      restore: "the older copy is put back; jobs it holds are ended or put in line by their kind's rule",
      replaceClosed: (to: string) => `web and workers of ${to} start; pages are served again`,
      replace: "web one by one, the new one first; workers start",
      confirm: (time: string) => `health and heartbeats for ${time}, then one request through the proxy`,
      switch: (to: string) => `current points to ${to}`,
      switchOwn: (to: string) => `current points to ${to}; your services are not touched`,
      prune: "older releases beyond three go; then owld itself starts again, and the proxy when its code changed",
    },
    same: (version: string) => `${version} is what runs already.`,
    fromTo: (from: string, to: string) => `${from} to ${to}.`,
    ownServices:
      "Owl itself is updated: owld, its proxy, owlctl. Your services run on, untouched; their own code is yours to replace (owlctl restart).",
    ownWayBack: "No downtime: the proxy hands its listening socket on. The way back: owlctl rollback.",
    overlap: "Old and new workers overlap: nothing about jobs changed.",
    drainFirst: (reasons: string, time: string) =>
      `Workers drain first (${reasons}): at most ${time} without a worker. Turns asked meanwhile wait in line; a running one that does not end in time is closed with its message.`,
    newFormat:
      "Jobs of the new format are run by the new release alone: should it be taken back, turns among them are closed at their claim limit and other work waits for it.",
    queueSchema: "The queue's own schema changes, which counts as incompatible.",
    served: "No downtime: pages are served throughout.",
    codeBack: "The way back, by itself when it fails or later by owlctl rollback: the old code alone. Nothing is lost.",
    closed: (time: string) => `Pages answer 503 for at most ${time}.`,
    copyBack: (time: string) =>
      `The way back is the copy: should it fail by itself, what was written since the copy is lost (pages are closed until the new web serves, so only what it took in its first ${time}); by hand later, everything written since. owlctl rollback --plan counts it. Jobs the copy holds are ended by their kind's rule, none is run twice.`,
    refusedBy: (check: string, found: string, command: string) =>
      `It would be refused by preflight, ${check}: ${found}. Try: ${command}`,
    warnedBy: (check: string, found: string, command: string) => `Preflight warns, ${check}: ${found}. Try: ${command}`,
    reasons: {
      byDefault: "drain first is the default",
      noManifest: "the running release has no manifest to compare with",
      kindNew: (kind: string) => `job kind ${kind} is new`,
      kindGone: (kind: string) => `job kind ${kind} is gone`,
      format: (kind: string, to: number, from: number) => `job kind ${kind} has format ${to}, was ${from}`,
      argument: (kind: string) => `the arguments of job kind ${kind} changed`,
      touchesJobs: (migration: string) => `migration ${migration} changes tables that jobs live in`,
      incompatible: (migration: string) => `migration ${migration} is incompatible with the old code`,
      queue: "the queue's own schema changes",
    },
  },
  rollback: {
    backTo: (from: string, to: string) => `${from} back to ${to}.`,
    ownServices: "Owl itself goes back; your services run on, untouched.",
    codeOnly: "Code only: the older release can live with the database of now. Nothing is lost.",
    restores: (time: string) =>
      `The older release cannot live with the database of now: pages answer 503 for at most ${time} while the copy taken before the update is put back (a copy of now is taken first).`,
    nothingLost: "Nothing was written since that copy.",
    lost: (writes: number, firstAt: string | null, lastAt: string | null) =>
      `${writes} writes since that copy are lost, from ${firstAt} to ${lastAt}.`,
    newerJobs: (count: number) =>
      `${count} ${count === 1 ? "job waits" : "jobs wait"} in a format the older release does not know: turns among them are closed at their claim limit, the others wait until a release that knows them runs again.`,
  },
};

export type Text = typeof en;
