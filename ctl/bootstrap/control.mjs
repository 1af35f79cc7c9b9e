// The little of the control API that `npm start` and `npm run dev` need.

import { createRequire } from "node:module";

// By an import each export would be read, and the whole of undici loaded with the last of them.
const { request } = createRequire(import.meta.url)("node:http");

/** JSON of one call, or null when owld does not answer (not yet, not any more). */
export function ask(socketPath, method, path, body) {
  return new Promise((resolve) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers =
      payload === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
    const call = request({ socketPath, method, path, headers, agent: false, timeout: 5_000 }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("error", () => resolve(null));
      response.on("end", () => {
        try {
          resolve({ status: response.statusCode, body: text === "" ? null : JSON.parse(text) });
        } catch {
          resolve(null);
        }
      });
    });
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve(null));
    call.end(payload);
  });
}
