// A client that starts a batch, prints its id and watches it for ever; or, given an id, only watches. Made to be killed.

import { createWebClient } from "../services.ts";

const [socket = "", what = "", value = ""] = process.argv.slice(2);
const web = createWebClient(socket);
await web.signIn();
let id = value;
if (what === "start") {
  const { body } = await web.call("POST", "/api/batches", { kind: "transcription", path: value });
  id = body.batchId;
}
process.stdout.write(`${id}\n`);
for (;;) await web.events(`/api/batches/${id}/events`);
