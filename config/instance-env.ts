// The environment contract between owld and an instance, any language. Bundled programs read it here, once.

/** Set for every instance: PATH, HOME, USER, LANG, LC_*, TZ, TMPDIR, its own env, and these. */
export const INSTANCE_ENV = {
  /** `web-7` */
  instance: "OWL_INSTANCE",
  /** `web` */
  service: "OWL_SERVICE",
  /** version of the release it was started from */
  release: "OWL_RELEASE",
  /** Unix socket path to listen on (`listen: socket`) */
  socket: "OWL_SOCKET",
  /** loopback port (`listen: port`) */
  port: "PORT",
  /** OWL_HOME's hash: the mark by which a later owld finds processes it has no record of */
  mark: "OWL_MARK",
  /** JSON of AppConfig; bundled programs only, where no descriptor hands it over (config/handed-config.ts) */
  app: "OWL_APP_CONFIG",
  /** number of the descriptor that holds it */
  appDescriptor: "OWL_APP_CONFIG_FD",
  /** folder of the files of `secrets:`, as systemd names it */
  credentials: "CREDENTIALS_DIRECTORY",
  /** `owl/web-7`, so that pg_stat_activity names every connection's owner */
  pgApplication: "PGAPPNAME",
} as const;

const HANDED_ON = /^(PATH|HOME|USER|LANG|LC_[A-Z]+|TZ|TMPDIR)$/;

/** The few variables of owld's environment that every process it starts gets. */
export function inheritedEnv(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(environment).filter(([name, value]) => HANDED_ON.test(name) && value !== undefined);
  return Object.fromEntries(kept) as Record<string, string>;
}
