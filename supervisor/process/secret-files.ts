// The files of `services.NAME.secrets`: one folder for an instance, which its user alone can read, made new at each
// start. Where it lies is told as systemd does it, in CREDENTIALS_DIRECTORY.

import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { asError, OwlError } from "../../config/errors.ts";
import type { SpawnRequest } from "../ports.ts";
import { findAccount } from "./user-switch.ts";

/** Writes `values` into `directory`, for `user` (null: ours). Throws `spawn.failed` where that user could not read them. */
export async function writeSecretFiles(
  { directory, values }: NonNullable<SpawnRequest["secrets"]>,
  user: string | null,
): Promise<void> {
  const own = process.geteuid?.() ?? 0;
  const account = user === null ? null : await findAccount(user);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files = Object.entries(values).map(([name, value]) => {
    const path = join(directory, name);
    writeFileSync(path, value, { flag: "wx", mode: 0o400 });
    return path;
  });
  if (account === null || account.uid === own) return;
  // Root gives them away. Under the unit owld cannot, but it is a member of the services' group.
  const [uid, mode, pass] = own === 0 ? [account.uid, 0o400, 0o500] : [-1, 0o440, 0o750];
  try {
    for (const path of files) {
      chownSync(path, uid, account.gid);
      chmodSync(path, mode);
    }
    chownSync(directory, uid, account.gid);
    chmodSync(directory, pass);
    const parent = dirname(directory);
    const { mode: before } = statSync(parent);
    // Others may pass to what is theirs, not look around.
    if ((before & 0o001) === 0) chmodSync(parent, (before & 0o7777) | 0o001);
  } catch (cause) {
    rmSync(directory, { recursive: true, force: true });
    const { code } = asError(cause) as NodeJS.ErrnoException;
    throw new OwlError("spawn.failed", `Its secrets cannot be given to ${account.name}: ${code}.`, {
      next: `Make owld's user a member of the group of ${account.name}, or run owld as root.`,
      cause,
    });
  }
}
