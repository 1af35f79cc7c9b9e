// The preflight of a release's own code, run against this home and this configuration before anything is changed.

import type { Config } from "../../config/config.ts";
import type { PreflightLine } from "../../config/control-api.ts";
import type { HomePaths } from "../../config/home.ts";
import type { Text } from "../core/text/text.ts";
import type { ReleaseRef } from "../core/update-course.ts";
import type { Measures } from "../observe/measures.ts";
import type { DatabaseService, ProxySet } from "../ports.ts";
import { checkRelease } from "../release/check.ts";

export type ReleaseJudge = (release: ReleaseRef, text: Text, signal: AbortSignal) => Promise<readonly PreflightLine[]>;

interface ReleaseJudgeParts {
  readonly paths: Pick<HomePaths, "home">;
  readonly measures: Pick<Measures, "largestRssBytes">;
  readonly database: Pick<DatabaseService, "url">;
  readonly proxies: Pick<ProxySet, "processes">;
  readonly config: () => Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function createReleaseJudge(parts: ReleaseJudgeParts): ReleaseJudge {
  return (release, text, signal) => {
    const config = parts.config();
    return checkRelease({
      release,
      home: parts.paths.home,
      environment: parts.environment,
      given: {
        file: config.file,
        cwd: process.cwd(),
        databaseUrl: parts.database.url(),
        ownPids: [process.pid, ...parts.proxies.processes().map(({ pid }) => pid)],
        largestInstanceBytes: parts.measures.largestRssBytes(config.services.map(({ name }) => name)),
        language: text.language,
      },
      signal,
    });
  };
}
