import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";

const HOLDER = new URL("../../../support/programs/holder.ts", import.meta.url).pathname;
const ROUNDS = 6;
const CLIENTS = 8;

interface Held {
  readonly port: number;
  readonly pid: number;
}

/** A client that connects anew for every question until told to stop; what went wrong is kept in `failed`. */
function asking(port: number, isOn: () => boolean, failed: string[], answered: () => void): Promise<void> {
  const ask = (): Promise<void> =>
    new Promise((resolve) => {
      const asked = request({ host: "127.0.0.1", port, agent: false }, (response) => {
        response.resume();
        response.on("close", resolve);
        answered();
      });
      asked.on("error", (error) => {
        failed.push(error.message);
        resolve();
      });
      asked.end();
    });
  return (async () => {
    while (isOn()) await ask();
  })();
}

test.each(["close", "exit", "close and exit at once"])(
  "a holder that ends by %s resets no client on its way out",
  async (how) => {
    const failed: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const holder = spawn(process.execPath, [HOLDER, how], { stdio: ["pipe", "pipe", "inherit"] });
      const [line] = (await once(holder.stdout, "data")) as [Buffer];
      const { port, pid } = JSON.parse(line.toString()) as Held;
      let answers = 0;
      let isOn = true;
      const more = async (count: number): Promise<void> => {
        const aim = answers + count;
        while (answers < aim && failed.length === 0) await new Promise(setImmediate);
      };
      const clients = Array.from({ length: CLIENTS }, () =>
        asking(
          port,
          () => isOn,
          failed,
          () => {
            answers++;
          },
        ),
      );
      await more(20);
      const ended = once(holder, "exit");
      holder.stdin.end();
      await ended;
      await more(20);
      isOn = false;
      await Promise.all(clients);
      process.kill(pid, "SIGKILL");
    }
    expect(failed).toEqual([]);
  },
);
