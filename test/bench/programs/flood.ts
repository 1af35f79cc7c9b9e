// A member who floods, as a process of its own: what its client costs is not what the other member's client feels.
// argv: port, name, password, archive; a message starts and stops it; answers what was answered, by status.

import { createCaller } from "../../chaos/caller.ts";
import { flood } from "../../chaos/load/floods.ts";

const [port = "", name = "", password = "", archive = ""] = process.argv.slice(2);
const member = createCaller(Number(port));
if (!(await member.signIn(name, password))) throw new Error(`${name} could not sign in`);
let ending = new AbortController();
process.on("message", (message) => {
  if (message === "stop") ending.abort();
  else {
    ending = new AbortController();
    void flood(member, archive, ending.signal).then((answered) => process.send?.(answered));
  }
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
