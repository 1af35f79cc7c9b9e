// `owlctl install`: this code as a systemd service. Repeatable: the second time it renews code and units.

import { lstat, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { execa } from "execa";
import { EXIT, type Status } from "../../config/control-api.ts";
import { OwlError } from "../../config/errors.ts";
import { CODE_ROOT, loadConfig } from "../../config/load.ts";
import { listenAddresses } from "../../config/proxy-feed.ts";
import { stopChain } from "../../config/relations.ts";
import { createClient } from "../client.ts";
import type { CommandDeps } from "../deps.ts";
import { digestCode } from "../install/code-copy.ts";
import { CONFIG_FILE, HOME, type InstallFacts, planInstall, releaseName } from "../install/plan.ts";
import { describeStep, takeSteps } from "../install/take-steps.ts";
import { waitReady } from "../install/wait-ready.ts";
import { ROUTES } from "../routes.ts";
import { codeVersion } from "../version.ts";

const SOCKET = "/run/owl/control.sock";

interface Options {
  readonly dryRun?: boolean;
  readonly start: boolean;
}

export function register(program: Command, deps: CommandDeps): void {
  const { text } = deps;
  const t = text.commands.install;
  program
    .command("install")
    .description(t.about)
    .option("--dry-run", t.dryRun)
    .option("--no-start", t.noStart)
    .addHelpText("after", text.examples(["owlctl install --dry-run", "sudo owlctl install"]))
    .action(deps.run((options: Options) => install(options, deps)));
}

async function install(options: Options, deps: CommandDeps): Promise<number> {
  const { terminal, text } = deps;
  const t = text.commands.install;
  const facts = await gather(options, deps);
  const steps = planInstall(facts);
  if (options.dryRun) {
    for (const step of steps) {
      terminal.out(await describeStep(step, text));
      if (step.do === "write") for (const line of step.text.trimEnd().split("\n")) terminal.out(`    ${line}`);
    }
    return EXIT.done;
  }
  if (process.geteuid?.() !== 0) throw new OwlError("install.root", t.needsRoot, { next: t.needsRootNext });
  if (!(await isThere("/run/systemd/system"))) {
    throw new OwlError("install.systemd", t.noSystemd, { next: t.noSystemdNext });
  }
  const running = (await execa("systemctl", ["is-active", "owl.service"], { reject: false })).exitCode === 0;
  await takeSteps(steps, terminal, text);
  if (running) {
    terminal.out(t.running);
    terminal.out(t.runningNext);
  } else if (!facts.start) terminal.out(t.installed);
  else {
    const client = createClient({ path: SOCKET, by: "/run/owl" }, deps.language);
    const last = await waitReady({
      clock: deps.clock,
      status: () => client.get<Status>(ROUTES.status).catch(() => null),
      say: terminal.err,
      words: text.watch.comingUp,
    });
    if (last?.state !== "steady") {
      for (const warning of last?.warnings ?? []) terminal.err(warning);
      terminal.err(text.watch.notUp);
      return EXIT.failed;
    }
    const [first] = facts.listen;
    terminal.out(t.done(`http://${first?.host === "0.0.0.0" ? "localhost" : first?.host}:${first?.port}`));
    const password = join(HOME, "initial-admin-password");
    if (await isThere(password)) terminal.out(t.password(password));
  }
  return EXIT.done;
}

async function gather(options: Options, deps: CommandDeps): Promise<InstallFacts> {
  const template = (name: string) => readFile(join(CODE_ROOT, "systemd", name), "utf8");
  const env = { ...deps.env, OWL_HOME: HOME, OWL_SERVICES_USER: "owl-app", OWL_PORT: undefined };
  const present = await isThere(CONFIG_FILE);
  // The users do not exist before the first installation; owld looks again when it starts.
  const config = loadConfig({ file: present ? CONFIG_FILE : null, env, cwd: "/", userProblem: () => null });
  const digest = await digestCode(CODE_ROOT);
  const plain = releaseName(codeVersion(), digest, false);
  const same = async (name: string) => {
    const dir = join(HOME, "releases", name);
    return (await isThere(dir)) && (await digestCode(dir)) === digest;
  };
  const taken = (await isThere(join(HOME, "releases", plain))) && !(await same(plain));
  const release = releaseName(codeVersion(), digest, taken);
  return {
    code: await realpath(CODE_ROOT),
    release,
    present: await same(release),
    templates: {
      service: await template("owl.service"),
      socket: await template("owl.socket"),
      sysusers: await template("sysusers.conf"),
      tmpfiles: await template("tmpfiles.conf"),
    },
    listen: present ? listenAddresses(config.proxy) : [{ host: "0.0.0.0", port: 8080 }],
    stopMs: stopChain(config).totalMs,
    delegates: config.services.some(({ controlGroup }) => controlGroup !== undefined),
    start: options.start,
  };
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}
