// What `owlctl install` and `uninstall` do, as a list of steps: the very list --dry-run prints. Pure.
// Invariant: every step may be taken again; what a person may have changed (the configuration) is never overwritten.

import { join } from "node:path";
import type { ListenAddress } from "../../config/config.ts";

export type Step =
  | {
      readonly do: "write";
      readonly path: string;
      readonly text: string;
      readonly mode: number;
      /** Group that may read it; root owns it. */
      readonly group: string | null;
      readonly keep: boolean;
    }
  | { readonly do: "copy"; readonly from: string; readonly to: string; readonly owner: string }
  | { readonly do: "link"; readonly path: string; readonly to: string }
  | { readonly do: "remove"; readonly path: string }
  | { readonly do: "run"; readonly argv: readonly [string, ...string[]]; readonly mayFail: boolean };

export const HOME = "/var/lib/owl";
const RUN = "/run/owl";
export const ETC = "/etc/owl";
const CURRENT = join(HOME, "current");
export const CONFIG_FILE = join(ETC, "owl.yaml");
export const UNITS = ["/etc/systemd/system/owl.service", "/etc/systemd/system/owl.socket"] as const;
/** What `systemctl edit` made: a person's settings, as the configuration is. */
export const DROP_INS = UNITS.map((unit) => `${unit}.d`);
const SYSUSERS = "/etc/sysusers.d/owl.conf";
const TMPFILES = "/etc/tmpfiles.d/owl.conf";
const OWLCTL = "/usr/local/bin/owlctl";

export interface InstallFacts {
  /** Directory of the code to install. */
  readonly code: string;
  /** Name of its directory under releases/. */
  readonly release: string;
  /** True when that very release is there already. */
  readonly present: boolean;
  /** Texts of systemd/ in the code. */
  readonly templates: {
    readonly service: string;
    readonly socket: string;
    readonly sysusers: string;
    readonly tmpfiles: string;
  };
  readonly listen: readonly ListenAddress[];
  /** The longest that an orderly stop may take. */
  readonly stopMs: number;
  /** A service has limits that take control groups. */
  readonly delegates: boolean;
  readonly start: boolean;
}

/** The steps of an installation, in order. */
export function planInstall(facts: InstallFacts): readonly Step[] {
  const { templates } = facts;
  const release = join(HOME, "releases", facts.release);
  const [service, socket] = UNITS;
  return [
    file(SYSUSERS, templates.sysusers),
    run("systemd-sysusers", SYSUSERS),
    file(TMPFILES, templates.tmpfiles),
    run("systemd-tmpfiles", "--create", TMPFILES),
    ...(facts.present ? [] : [{ do: "copy", from: facts.code, to: release, owner: "owl" } as const]),
    { do: "link", path: CURRENT, to: join("releases", facts.release) },
    { ...file(CONFIG_FILE, CONFIG_SAMPLE), mode: 0o640, group: "owl", keep: true },
    { ...file(join(ETC, "owl.env"), ENV_SAMPLE), mode: 0o640, group: "owl", keep: true },
    file(service, renderService(templates.service, facts)),
    file(socket, renderSocket(templates.socket, facts.listen)),
    { do: "link", path: OWLCTL, to: join(CURRENT, "ctl", "owlctl") },
    run("systemctl", "daemon-reload"),
    run("systemctl", "enable", "owl.socket", "owl.service"),
    // A running owld keeps its sockets and its code: it is put on new code without a stop (daemon-reexec).
    ...(facts.start ? [run("systemctl", "start", "owl.socket"), run("systemctl", "start", "owl.service")] : []),
  ];
}

/** The steps back. Stopping comes first and takes as long as the work that runs needs. */
export function planUninstall(options: { readonly purge: boolean }): readonly Step[] {
  return [
    { ...run("systemctl", "disable", "--now", "owl.socket"), mayFail: true },
    { ...run("systemctl", "disable", "--now", "owl.service"), mayFail: true },
    // Only after an owld that was killed: an orderly stop leaves nothing.
    { ...run("systemctl", "kill", "--kill-whom=all", "--signal=KILL", "owl.service"), mayFail: true },
    ...UNITS.map(remove),
    run("systemctl", "daemon-reload"),
    { ...run("systemctl", "reset-failed", "owl.service", "owl.socket"), mayFail: true },
    remove(OWLCTL),
    remove(SYSUSERS),
    remove(TMPFILES),
    remove(RUN),
    ...(options.purge
      ? [
          ...DROP_INS.map(remove),
          remove(HOME),
          remove(ETC),
          { ...run("userdel", "owl-app"), mayFail: true },
          { ...run("userdel", "owl"), mayFail: true },
          // userdel leaves a group that still has a member.
          { ...run("groupdel", "owl-app"), mayFail: true },
        ]
      : [remove(CURRENT), remove(join(HOME, "releases")), remove(join(HOME, "incoming")), remove(join(HOME, "run"))]),
  ];
}

/** The unit with TimeoutStopSec for the longest orderly stop, its control group delegated where a service needs that. */
export function renderService(template: string, facts: Pick<InstallFacts, "stopMs" | "delegates">): string {
  const unit = template.replace(/^TimeoutStopSec=.*$/m, `TimeoutStopSec=${Math.ceil(facts.stopMs / 1_000)}s`);
  if (!facts.delegates) return unit;
  return unit
    .replace(/^#(Delegate(?:Subgroup)?=)/gm, "$1")
    .replace(/^ProtectControlGroups=yes$/m, "ProtectControlGroups=no");
}

/** The socket unit with one ListenStream per address of proxy.listen, and one for the redirect. */
export function renderSocket(template: string, listen: readonly ListenAddress[]): string {
  const lines = listen.map(({ host, port }) => {
    const numeric = host === "localhost" ? "127.0.0.1" : host;
    return `ListenStream=${numeric.includes(":") ? `[${numeric}]` : numeric}:${port}`;
  });
  return template.replace(/^ListenStream=.*$/m, lines.join("\n"));
}

/** Release directory names: letters, digits, dots, dashes, plus. Pure. */
export function releaseName(version: string, digest: string, taken: boolean): string {
  const safe = version.replaceAll(/[^A-Za-z0-9.+-]/g, "-");
  return taken ? `${safe}-${digest.slice(0, 8)}` : safe;
}

function file(path: string, text: string): Extract<Step, { do: "write" }> {
  return { do: "write", path, text, mode: 0o644, group: null, keep: false };
}

function run(...argv: [string, ...string[]]): Extract<Step, { do: "run" }> {
  return { do: "run", argv, mayFail: false };
}

function remove(path: string): Step {
  return { do: "remove", path };
}

const CONFIG_SAMPLE = `# Owl's configuration. Every key is optional: \`owlctl config schema\` describes all of them, \`owlctl config show\` the
# values in use. After a change: owlctl config check && owlctl reload
# proxy.listen is opened by owl.socket: after changing it, run \`owlctl install\` again and restart both units.
proxy: {listen: "0.0.0.0:8080"}
`;

const ENV_SAMPLE = `# Secrets for \${NAME} in owl.yaml, one NAME=value a line. Read when owld starts.
`;
