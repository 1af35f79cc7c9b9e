// Why owld refuses what an operator asked for, and the way on, in English. Pure.

/** A sentence, and what to do now. */
export interface Words {
  readonly sentence: string;
  readonly next?: string;
}

const NOTHING_CHANGED = "Nothing was changed.";
const FREE_SPACE = "Free some space (`owlctl preflight` says how much is needed) and run the update again.";

export const refusedEn = {
  internal: (): Words => ({
    sentence: "owld failed to answer this; its log says why.",
    next: "Look at the log of owld: journalctl -u owl, or the terminal it runs in.",
  }),
  busy: (rollout: string): Words => ({
    sentence: `Rollout ${rollout} is running.`,
    next: `Watch it: owlctl rollout watch ${rollout}`,
  }),
  stopping: (): Words => ({ sentence: "owld is stopping.", next: "Start it again first." }),
  diskFull: (failing: string): Words => ({
    sentence: `The state file cannot be written (${failing}), so no step could be recorded.`,
    next: "Free some space in the state directory and ask again; supervision goes on meanwhile.",
  }),
  serviceStopped: (service: string): Words => ({
    sentence: `${service} is stopped, so there is nothing to replace.`,
    next: `Start it: owlctl start ${service}`,
  }),
  noRollout: (): Words => ({ sentence: "No rollout is running.", next: "See the past ones: owlctl rollout list" }),
  unknown: (kind: "service" | "instance" | "rollout", name: string): string =>
    `There is no ${kind} ${JSON.stringify(name)}.`,
  didYouMean: (nearest: string): string => `Did you mean ${nearest}?`,
  known: (names: string): string => `Known: ${names}.`,
  noneYet: "There is none yet.",
  preflight: (failed: string, commands: string): Words => ({
    sentence: `Preflight fails, so nothing was touched. ${failed}.`,
    next: `${commands}; then look at everything: owlctl preflight`,
  }),
  overBudget: (steady: number, own: number, limit: number): Words => ({
    sentence: `The services declare ${steady} connections; with ${own} of Owl's own that is over the server's ${limit}.`,
    next: "Lower replicas or connections, or raise PostgreSQL's max_connections.",
  }),
  app: (why: string): Words => ({
    sentence: `The application cannot be asked: ${why}.`,
    next: "See what it waits for: owlctl why web",
  }),
  appNotReady: "no web instance of the bundled application is ready",
  appBrokeOff: (why: string): string => `the web instance broke off (${why})`,
  request: {
    replicas: (service: string, replicas: number): Words => ({
      sentence: `${service}=${replicas}: a whole number from 0 to 1000 is expected.`,
    }),
    noRoute: (path: string): Words => ({
      sentence: `There is no ${path} here.`,
      next: "All routes: GET /v1/openapi.json",
    }),
    method: (path: string, allowed: readonly string[], method: string): Words => ({
      sentence: `${path} takes ${allowed.join(" or ")}, not ${method}.`,
      next: "All routes: GET /v1/openapi.json",
    }),
    brokenEscape: (segment: string): Words => ({ sentence: `The path holds a broken escape: ${segment}.` }),
    givenTwice: (name: string): Words => ({ sentence: `query.${name} is given twice.` }),
    tooLarge: (bytes: number): Words => ({ sentence: `The body is over ${bytes} bytes.` }),
    emptyBody: (): Words => ({ sentence: "The body is empty.", next: "Its shape: GET /v1/openapi.json" }),
    noJson: (): Words => ({ sentence: "The body is no JSON.", next: "Its shape: GET /v1/openapi.json" }),
    shape: (issues: string): Words => ({ sentence: `${issues}.`, next: "Its shape: GET /v1/openapi.json" }),
  },
  release: {
    notStaged: (version: string): Words => ({
      sentence: `Release ${version} is not staged here any more.`,
      next: "Stage it again: owlctl update --stage ARCHIVE",
    }),
    noManifest: (version: string): Words => ({ sentence: `${version} has no manifest.`, next: "Stage it again." }),
    platform: (version: string, platform: string, here: string): Words => ({
      sentence: `Release ${version} is for ${platform}; this machine is ${here}.`,
      next: `Build it on ${here} with \`npm run release\`.`,
    }),
    configuration: (version: string, words: string): Words => ({
      sentence: `Release ${version} does not accept the configuration: ${words}`,
      next: "Correct owl.yaml first, or stay with the present release.",
    }),
    owld: (version: string, words: string): Words => ({
      sentence: `owld of release ${version} does not start: ${words}`,
      next: "Build the release again with `npm run release`, or stay with the present one.",
    }),
    preflight: (version: string, words: string): Words => ({
      sentence: `The preflight of release ${version} did not run: ${words}`,
      next: "Build the release again with `npm run release`, or stay with the present one.",
    }),
    diskFullStaging: (): Words => ({ sentence: "The disk is full while staging the release.", next: FREE_SPACE }),
    diskFullUnpacking: (): Words => ({ sentence: "The disk is full while unpacking the release.", next: FREE_SPACE }),
    unreadable: (source: string, why: string): Words => ({
      sentence: `${source} cannot be read: ${why}.`,
      next: "Give the path of an archive or a directory made by `npm run release`.",
    }),
    notCopied: (path: string, source: string, why: string): Words => ({
      sentence: `${path} cannot be copied from ${source}: ${why}.`,
      next: `${NOTHING_CHANGED} Build the release again with \`npm run release\`.`,
    }),
    exists: (version: string): Words => ({
      sentence: `Another release ${version} is here already.`,
      next: "Give the new one another version, or remove the old one when nothing runs from it.",
    }),
    missing: (dir: string, file: string): Words => ({
      sentence: `${dir} has no ${file}.`,
      next: "Give an archive or a directory made by `npm run release`.",
    }),
    changed: (path: string, how: "link" | "notListed" | "differs" | "missing"): Words => ({
      sentence: `${path} ${
        {
          link: "is a link its manifest does not list",
          notListed: "is not listed in its manifest",
          differs: "differs from its manifest",
          missing: "is missing",
        }[how]
      }.`,
      next: `${NOTHING_CHANGED} Copy the release again, or build it again with \`npm run release\`.`,
    }),
    archiveUnreadable: (archive: string, why: string): Words => ({
      sentence: `The archive ${archive} cannot be read: ${why}.`,
      next: "Check the path and its permissions.",
    }),
    archive: (what: string): Words => ({
      sentence: `The archive is refused: ${what}.`,
      next: `${NOTHING_CHANGED} Build it again with \`npm run release\`, or copy it again.`,
    }),
    firstEntry: (name: string, manifest: string) => `its first entry is ${JSON.stringify(name)}, not ${manifest}`,
    empty: "it is empty",
    holds: (name: string, why: string) => `it holds ${JSON.stringify(name)}, ${why}`,
    links: (name: string, to: string | undefined | null, why: string) =>
      `it links ${JSON.stringify(name)} to ${JSON.stringify(to)}, ${why}`,
    unlistedLink: (name: string) => `it holds the link ${JSON.stringify(name)} that its manifest does not list`,
    unlisted: "which its manifest does not list",
    size: (name: string, bytes: number | undefined, listed: number) =>
      `${JSON.stringify(name)} has ${bytes} bytes, its manifest says ${listed}`,
    largeManifest: "its manifest is larger than 64 MiB",
    damaged: (why: string) => `it is truncated or damaged (${why})`,
    noRelease: (what: string): Words => ({
      sentence: `This is no release: ${what}.`,
      next: "Build it again with `npm run release`, or copy it again.",
    }),
    newerFormat: (format: number, own: number): Words => ({
      sentence: `manifest.json has format ${format}; this Owl reads format ${own}.`,
      next: "Update to a release in between first, or build the archive with this version.",
    }),
    notJson: "manifest.json is not JSON",
    notManifest: (place: string, why: string | undefined) =>
      `manifest.json, ${place || "(whole)"}: ${why ?? "is not a manifest"}`,
    names: (path: string, why: string) => `manifest.json names ${JSON.stringify(path)}, ${why}`,
    manifestLinks: (path: string, to: string, why: string) =>
      `manifest.json links ${JSON.stringify(path)} to ${JSON.stringify(to)}, ${why}`,
    fileAndLink: (path: string) => `manifest.json names ${JSON.stringify(path)} both as file and as link`,
    badPath: {
      length: "whose length is not allowed",
      absolute: "which is absolute",
      control: "which holds a control character or a backslash",
      notPlain: "which is not a plain relative path",
      manifest: "which is the manifest itself",
      notRelative: "which is not a relative path",
      out: "which points out of the release",
      behindLink: "which lies behind a link",
    },
  },
  update: {
    overlap: (reasons: string): Words => ({
      sentence: `Old and new workers may not run together: ${reasons}.`,
      next: "Leave out --overlap: drain first is the default and loses nothing.",
    }),
    noWorkers: (): Words => ({
      sentence: "There are no bundled workers here that could overlap.",
      next: "Leave out --overlap: your services are not touched by an update of Owl.",
    }),
    migrationChanged: (migration: string, version: string): Words => ({
      sentence: `Migration ${migration} of release ${version} differs from the one this database has.`,
      next: "A migration that was applied is never edited; add a new one and build the release again.",
    }),
    schemaAhead: (version: string, unknown: string): Words => ({
      sentence: `The database has migrations release ${version} does not know: ${unknown}.`,
      next: "Use a newer release, or go back with `owlctl rollback`.",
    }),
    noDatabase: (): Words => ({
      sentence: "The database is not up, so nothing can be compared with it.",
      next: "See why: owlctl events",
    }),
    same: (version: string): Words => ({
      sentence: `Release ${version} is what runs already.`,
      next: "Nothing was changed. To start its processes anew: owlctl restart",
    }),
    preflight: (checks: string, version: string | null, found: string, command: string): Words => ({
      sentence: `${checks}${version === null ? "" : ` (release ${version})`}: ${found}.`,
      next: `Try: ${command}`,
    }),
    smokeFailed: (why: string): Words => ({ sentence: `A request through the proxy failed: ${why}.` }),
    smokeStatus: (status: number): Words => ({
      sentence: `A request through the proxy was answered with ${status}.`,
    }),
    smokeLate: (seconds: number) => `no answer within ${seconds} s`,
  },
  rollback: {
    none: (): Words => ({ sentence: "No release ran here before this one.", next: "See: owlctl rollout list" }),
    same: (version: string): Words => ({ sentence: `${version} is what runs already.`, next: "See: owlctl version" }),
    unknown: (version: string, nearest: string | null, here: string): Words => ({
      sentence: `There is no release ${version} here.${nearest === null ? "" : ` Did you mean ${nearest}?`}`,
      next: `Here are: ${here || "none"}.`,
    }),
    noCopy: (version: string): Words => ({
      sentence: `${version} cannot live with the database of now, and no copy from before is here.`,
      next: "Restore a backup of your own, or update to a newer release instead.",
    }),
  },
  migration: {
    numbers: (file: string | undefined, expected: number): Words => ({
      sentence: `migrations/${file} should have number ${expected}.`,
      next: "Renumber it.",
    }),
    gap: (lacking: number, has: number, name: string): Words => ({
      sentence: `The database lacks migration ${lacking} but has ${has} (${name}).`,
      next: "Restore a backup: this database was changed by hand.",
    }),
    future: (name: string, last: number): Words => ({
      sentence: `The database is newer than this release: it has migration ${name}, we end at ${last}.`,
      next: "Start the release that made it, or restore the copy made before it.",
    }),
    changed: (file: string, applied: string): Words => ({
      sentence: `migrations/${file} is not what was applied as ${applied}.`,
      next: "Put the file back as it was released; changes go into a new file.",
    }),
  },
};

export type Refused = typeof refusedEn;
