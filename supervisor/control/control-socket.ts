// The control socket's place on the disk: who may use it, and what to do with what lies there.
// Invariant: a living owld's socket is never taken over, and nothing but a socket is ever deleted.

import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { connect, type Server } from "node:net";
import { dirname } from "node:path";
import { OwlError } from "../../config/errors.ts";

/** sun_path holds 108 bytes, one of them the closing zero. */
export const SOCKET_PATH_BYTES = 107;
const GROUP = "owl";

/** Throws `socket.pathTooLong` when the kernel cannot hold this path. */
function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= SOCKET_PATH_BYTES) return;
  throw new OwlError(
    "socket.pathTooLong",
    `The socket path ${path} has ${bytes} bytes; the kernel allows ${SOCKET_PATH_BYTES}.`,
    { next: "Choose a shorter OWL_HOME, /var/lib/owl for instance.", data: { path, bytes } },
  );
}

/**
 * Makes `server` listen at `path`: mode 0660, group `owl` where there is one. A stale socket is replaced.
 * Throws `socket.pathTooLong`, `socket.taken` (somebody answers there), `socket.blocked` (no socket lies there).
 */
export async function listenAt(server: Server, path: string): Promise<void> {
  checkSocketPath(path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
  await clearStale(path);
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException): void => {
      const next = "Check the owner and the mode of that directory, and whether its disk is full.";
      reject(new OwlError("socket.failed", `Listening on ${path} failed: ${cause.code}.`, { next, cause }));
    };
    server.once("error", refuse);
    // Binding happens within this call: no moment in which others could connect.
    const own = process.umask(0o177);
    try {
      server.listen({ path }, () => {
        server.off("error", refuse);
        resolve();
      });
    } finally {
      process.umask(own);
    }
  });
  openToGroup(path);
}

function openToGroup(path: string): void {
  const gid = groupId(GROUP);
  if (gid !== null) {
    try {
      chownSync(path, -1, gid);
    } catch {
      // Neither root nor a member of the group: the socket stays with our own.
    }
  }
  chmodSync(path, 0o660);
}

function groupId(name: string): number | null {
  const line = readFileSync("/etc/group", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const gid = line?.split(":")[2];
  return gid === undefined ? null : Number(gid);
}

async function clearStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new OwlError("socket.blocked", `${path} is in the way: it is no socket.`, {
      next: "Owl deletes no file that is not its own. Move it away.",
      data: { path },
    });
  }
  if (await answers(path)) {
    throw new OwlError("socket.taken", `Another program answers on ${path}.`, {
      next: "An owld runs on this home already: owlctl status.",
      data: { path },
    });
  }
  rmSync(path, { force: true });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const answer = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    socket.on("connect", () => answer(true));
    // EAGAIN: its backlog is full, so somebody holds it.
    socket.on("error", (error: NodeJS.ErrnoException) => answer(error.code === "EAGAIN"));
  });
}
