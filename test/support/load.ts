// Clients of a proxy: requests one after another in a few lines until told to end, and how many came to nothing.

import { Agent, request } from "node:http";

/** `answered` hears every answer's body. */
export function steadyLoad(port: number, answered: (text: string) => void = () => {}, count = 4) {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const counts = { sent: 0, failed: 0 };
  let over = false;
  const once = (): Promise<void> =>
    new Promise((done) => {
      counts.sent++;
      const asked = request({ port, path: "/", agent }, (response) => {
        if (response.statusCode !== 200) counts.failed++;
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("close", () => {
          answered(text);
          done();
        });
      });
      asked.on("error", () => {
        counts.failed++;
        done();
      });
      asked.end();
    });
  const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 10));
  const line = async (): Promise<void> => {
    while (!over) {
      await once();
      await pause();
    }
  };
  const lines = Promise.all(Array.from({ length: count }, line));
  return {
    async stop() {
      over = true;
      await lines;
      agent.destroy();
      return counts;
    },
  };
}
