// The order in which owlctl looks for the daemon; who names a place gets that place.

import { expect, test } from "vitest";
import { findSocket } from "../../../ctl/find-socket.ts";

const only = (path: string) => (asked: Parameters<typeof import("node:fs").existsSync>[0]) => asked === path;
const none = () => false;

test.each([
  ["the flag before all", "x.sock", { OWL_CONTROL_SOCKET: "/a", OWL_HOME: "/h" }, none, "/cwd/x.sock"],
  ["OWL_CONTROL_SOCKET before OWL_HOME", undefined, { OWL_CONTROL_SOCKET: "/a", OWL_HOME: "/h" }, none, "/a"],
  [
    "OWL_HOME before what is there",
    undefined,
    { OWL_HOME: "/h" },
    only("/run/owl/control.sock"),
    "/h/run/control.sock",
  ],
  ["./.owl when it is there", undefined, {}, () => true, "/cwd/.owl/run/control.sock"],
  ["then the service's", undefined, {}, only("/run/owl/control.sock"), "/run/owl/control.sock"],
  ["nothing there: the foreground's", undefined, { OWL_HOME: "" }, none, "/cwd/.owl/run/control.sock"],
])("%s", (_, flag, env, exists, expected) => {
  expect(findSocket(flag, env, "/cwd", exists).path).toBe(expected);
});
