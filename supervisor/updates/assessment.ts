// What an update to a release would mean here: its manifest against the running one's and against the database.

import type { Manifest } from "../core/manifest.ts";
import type { Text } from "../core/text/text.ts";
import type { ReleaseRef } from "../core/update-course.ts";
import { planUpdate, type UpdateFacts, type UpdatePlanned, type UpdateRefused } from "../core/update-plan.ts";
import type { PlanFacts } from "../core/update-words.ts";
import type { UpdateDatabaseFacts } from "../ports.ts";
import type { ReleaseFolder } from "../release/folder.ts";

/** What is known of the services an update replaces. */
export type UpdateFigures = Pick<UpdateFacts, "workers" | "graceMs" | "readyMs" | "webReplicas"> &
  Pick<PlanFacts, "confirmMs">;

/** The plan for a staged release, or why it must not begin, in the language of `text`. */
export type Assess = (release: ReleaseRef, overlap: boolean, text: Text) => Promise<UpdatePlanned | UpdateRefused>;

interface AssessmentParts {
  readonly folder: Pick<ReleaseFolder, "running" | "manifest">;
  readonly bundled: boolean;
  readonly databaseFacts: () => Promise<UpdateDatabaseFacts>;
  readonly figures: () => UpdateFigures;
}

const NO_DATABASE: UpdateDatabaseFacts = { applied: {}, compatible: {}, queueSchema: null, bytes: 0 };

export function createAssessment({ folder, bundled, databaseFacts, figures }: AssessmentParts): Assess {
  async function compare(to: Manifest, overlap: boolean, text: Text): Promise<UpdatePlanned | UpdateRefused> {
    const database = bundled ? await databaseFacts() : NO_DATABASE;
    const facts: UpdateFacts = {
      bundled,
      from: await folder.manifest(folder.running),
      to,
      applied: Object.keys(database.applied),
      appliedHashes: database.applied,
      queueSchema: database.queueSchema,
      platform: `${process.platform}-${process.arch}`,
      overlapAsked: overlap,
      databaseBytes: database.bytes,
      ...figures(),
    };
    return planUpdate(facts, text);
  }

  return async (release, overlap, text) => {
    const manifest = await folder.manifest(release);
    if (manifest !== null) return await compare(manifest, overlap, text);
    return {
      verdict: "refused",
      code: "update.platform",
      words: ({ refused }) => refused.release.noManifest(release.version),
    };
  };
}
