import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  CONFIG_FILE,
  type InstallFacts,
  planInstall,
  planUninstall,
  releaseName,
  renderService,
  renderSocket,
  type Step,
} from "../../../../ctl/install/plan.ts";

const template = (name: string) => readFileSync(new URL(`../../../../systemd/${name}`, import.meta.url), "utf8");

const facts: InstallFacts = {
  code: "/src/owl",
  release: "0.1.0",
  present: false,
  templates: {
    service: template("owl.service"),
    socket: template("owl.socket"),
    sysusers: template("sysusers.conf"),
    tmpfiles: template("tmpfiles.conf"),
  },
  listen: [{ host: "0.0.0.0", port: 80 }],
  stopMs: 990_000,
  delegates: false,
  start: true,
};

const textOf = (steps: readonly Step[], path: string) => {
  const found = steps.find((step) => step.do === "write" && step.path === path);
  return found?.do === "write" ? found.text : "";
};
const commands = (steps: readonly Step[]) => steps.flatMap((step) => (step.do === "run" ? [step.argv.join(" ")] : []));

describe("installing", () => {
  test("makes users before directories, code before the units that run it, and starts last", () => {
    const steps = planInstall(facts);
    const order = steps.map((step) => (step.do === "run" ? step.argv.join(" ") : step.do));
    expect(order.indexOf("systemd-sysusers /etc/sysusers.d/owl.conf")).toBeLessThan(
      order.indexOf("systemd-tmpfiles --create /etc/tmpfiles.d/owl.conf"),
    );
    expect(order.indexOf("copy")).toBeLessThan(order.indexOf("systemctl daemon-reload"));
    expect(order.at(-1)).toBe("systemctl start owl.service");
  });

  test("never overwrites the configuration, which only root and owld may read", () => {
    const config = planInstall(facts).find((step) => step.do === "write" && step.path === CONFIG_FILE);
    expect(config).toMatchObject({ keep: true, mode: 0o640, group: "owl" });
  });

  test("copies no code that is there, and starts nothing when not asked to", () => {
    const steps = planInstall({ ...facts, present: true, start: false });
    expect(steps.some((step) => step.do === "copy")).toBe(false);
    expect(commands(steps).filter((command) => /start/.test(command))).toEqual([]);
  });

  test("gives a stop the largest grace and 90 s more", () => {
    expect(textOf(planInstall(facts), "/etc/systemd/system/owl.service")).toMatch(/^TimeoutStopSec=990s$/m);
  });

  test("opens one socket per address", () => {
    const listen = [
      { host: "localhost", port: 80 },
      { host: "::", port: 443 },
    ];
    expect(renderSocket(facts.templates.socket, listen)).toContain(
      "ListenStream=127.0.0.1:80\nListenStream=[::]:443\n",
    );
  });

  test("names a release after its version, and by its content too when that name holds other code", () => {
    expect(releaseName("1.2.0", "abcdef0123456789", false)).toBe("1.2.0");
    expect(releaseName("1.2.0/../x", "abcdef0123456789", true)).toBe("1.2.0-..-x-abcdef01");
  });
});

describe("the unit", () => {
  const unit = renderService(template("owl.service"), { stopMs: 720_000, delegates: false });

  test.each([
    "Type=notify",
    "NotifyAccess=all",
    "KillMode=process",
    "Restart=always",
    "RestartPreventExitStatus=78",
    "StartLimitIntervalSec=0",
    "OOMPolicy=continue",
    "RuntimeDirectoryPreserve=yes",
    "PrivateTmp=no",
    "TimeoutStopSec=720s",
    "User=owl",
    "Environment=OWL_SERVICES_USER=owl-app",
    "NoNewPrivileges=yes",
  ])("has %s", (line) => {
    expect(unit.split("\n")).toContain(line);
  });

  test("delegates its control group where a service needs that, and only there", () => {
    const lines = /^(Delegate|DelegateSubgroup|ProtectControlGroups)=.*$/gm;
    expect(unit.match(lines)).toEqual(["ProtectControlGroups=yes"]);
    const delegating = renderService(template("owl.service"), { stopMs: 720_000, delegates: true });
    expect(delegating.match(lines)).toEqual([
      "Delegate=cpu memory",
      "DelegateSubgroup=owld",
      "ProtectControlGroups=no",
    ]);
  });

  test("does not have what would break what it runs", () => {
    expect(unit).not.toMatch(/^(MemoryDenyWriteExecute|PrivateUsers|RuntimeDirectory)=/m);
  });
});

describe("uninstalling", () => {
  test("stops before it removes, and keeps data and configuration", () => {
    const steps = planUninstall({ purge: false });
    expect(steps[0]).toMatchObject({ do: "run", argv: ["systemctl", "disable", "--now", "owl.socket"] });
    const removed = steps.flatMap((step) => (step.do === "remove" ? [step.path] : []));
    expect(removed).not.toContain("/var/lib/owl");
    expect(removed).not.toContain("/etc/owl");
    expect(removed.filter((path) => path.endsWith(".d"))).toEqual([]);
    expect(commands(steps).some((command) => command.startsWith("userdel"))).toBe(false);
  });

  test("removes everything with --purge", () => {
    const removed = planUninstall({ purge: true }).flatMap((step) => (step.do === "remove" ? [step.path] : []));
    expect(removed).toEqual(
      expect.arrayContaining(["/var/lib/owl", "/etc/owl", "/run/owl", "/etc/systemd/system/owl.service.d"]),
    );
  });
});

describe("a package that is purged", () => {
  test("removes by itself what `uninstall --purge` would, and no file of its own scripts", () => {
    const script = template("deb/postrm");
    const kept = planUninstall({ purge: false }).flatMap((step) => (step.do === "remove" ? [step.path] : []));
    const gone = planUninstall({ purge: true }).flatMap((step) => (step.do === "remove" ? [step.path] : []));
    const left = gone.filter((path) => !kept.includes(path));
    expect(left.length).toBeGreaterThan(3);
    for (const path of left) expect(script).toMatch(new RegExp(`^ +rm -rf .*${path}( |$)`, "m"));
    for (const argv of commands(planUninstall({ purge: true })).filter((line) => /^(user|group)del /.test(line)))
      expect(script).toContain(argv.split(" ")[1]);
  });
});
