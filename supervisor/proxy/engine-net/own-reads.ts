// An accepted socket that reads into our buffer. Node offers that (`onread`) to sockets that connect; for one a server
// accepted it allocates, shrinks and collects 64 KiB at every read. So the accepted handle moves to a Socket made with
// `onread`. `handle` is an option Node's own cluster uses and does not document: without it everything works, slower.

import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";

interface Handled {
  _handle?: object | null;
}

/**
 * Moves the connection of `accepted` to another socket, which reads as `onread` says; in the tick of its acceptance,
 * before anything listens to it. null: not possible, `accepted` is as it was.
 */
export function withOwnReads(accepted: Socket, onread: OnReadOpts): Socket | null {
  const from = accepted as Socket & Handled;
  const { _handle: handle } = from;
  if (handle === undefined || handle === null || accepted.destroyed) return null;
  const options = { handle, onread } as SocketConstructorOpts;
  const socket = new Socket(options);
  if ((socket as Socket & Handled)._handle !== handle) return null;
  // The server counts this one as closed; the handle itself lives on.
  from._handle = null;
  accepted.destroy();
  return socket;
}
