// Where everything lies under OWL_HOME. One place, so that owld, owlctl, tests and people agree.

import { join } from "node:path";

export interface HomePaths {
  readonly home: string;
  /** Sockets, FIFOs, pid files; mode 0750. Short-lived, but must survive a kill -9 of owld. */
  readonly run: string;
  readonly controlSocket: string;
  /** Append-only instance logs: `logs/web-7.log`, rotated `logs/web-7.log.1`. */
  readonly logs: string;
  /** SQLite of the supervisor. */
  readonly state: string;
  readonly stateFile: string;
  /** Ordered certificates and the keys of accounts at authorities; mode 0700. */
  readonly certificates: string;
  /** What the proxy serves by: the certificate's chain and its key in one file, 0600. */
  readonly certificate: string;
  readonly postgres: string;
  readonly postgresData: string;
  readonly releases: string;
  /** Releases of a team's own code: `own-releases/7/code`. */
  readonly ownReleases: string;
  readonly incoming: string;
  readonly uploads: string;
  /** 0600; the first administrator's one-time password, until it was changed. */
  readonly initialPassword: string;
}

/** The paths under `home` (absolute). Pure; creates nothing. */
export function homePaths(home: string): HomePaths {
  const run = join(home, "run");
  const state = join(home, "state");
  const postgres = join(home, "postgres");
  const certificates = join(home, "certificates");
  return {
    home,
    run,
    controlSocket: join(run, "control.sock"),
    logs: join(home, "logs"),
    state,
    stateFile: join(state, "owl.sqlite"),
    certificates,
    certificate: join(certificates, "certificate.pem"),
    postgres,
    postgresData: join(postgres, "data"),
    releases: join(home, "releases"),
    ownReleases: join(home, "own-releases"),
    incoming: join(home, "incoming"),
    uploads: join(home, "uploads"),
    initialPassword: join(home, "initial-admin-password"),
  };
}
