// What one backup says of itself, written last: a backup without it was never finished. Pure.

import { z } from "zod";

export const MANIFEST = "manifest.json";

const storedFile = z.strictObject({ name: z.string(), bytes: z.number(), sha256: z.string() });

const manifest = z.object({
  format: z.literal(1),
  id: z.string(),
  installation: z.string(),
  /** Wall time, ISO 8601: when it began, and the end, from which on it can be restored. */
  startedAt: z.string(),
  endedAt: z.string(),
  version: z.string(),
  /** Names of applied migrations and their hashes. */
  migrations: z.record(z.string(), z.string()),
  postgres: z.object({
    major: z.number(),
    systemId: z.string(),
    epoch: z.number(),
    timeline: z.number(),
    segmentBytes: z.number(),
    start: z.string(),
    end: z.string(),
    /** Of the data directory. */
    bytes: z.number(),
  }),
  /** Rows by table, for a person to compare. */
  counts: z.record(z.string(), z.number()),
  releases: z.array(z.string()),
  files: z.array(storedFile),
  /** Names in the directory's uploads/. */
  uploads: z.array(z.string()),
  /** In the directory's own-releases/. */
  ownReleases: z.array(storedFile).default([]),
});

export type BackupManifest = z.output<typeof manifest>;
export type StoredFile = z.output<typeof storedFile>;

/** null: damaged, or of a newer Owl. */
export function parseBackupManifest(text: string): BackupManifest | null {
  try {
    return manifest.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** `2026-11-30T12-35-00Z`: sorts by time, and is a file's name everywhere. */
export function backupId(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(":", "-")}Z`;
}

const ID = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/;

export const isBackupId = (name: string): boolean => ID.test(name);
