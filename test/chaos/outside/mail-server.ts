// The mail server of a chaos run: takes every message and counts it by its subject.

import { SMTPServer } from "smtp-server";
import { freeLoopbackPort } from "./listen-on-loopback.ts";

export interface MailServer {
  readonly url: string;
  /** Messages taken whole, by subject. */
  readonly mails: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

export async function startMailServer(): Promise<MailServer> {
  const mails = new Map<string, number>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    onData(stream, _session, done) {
      let text = "";
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => {
        text += chunk;
      });
      stream.on("end", () => {
        const subject = /^Subject: (.*)$/m.exec(text)?.[1]?.trim() ?? "";
        mails.set(subject, (mails.get(subject) ?? 0) + 1);
        done();
      });
    },
  });
  // A client that was killed breaks its connection: that is what this run is about.
  server.on("error", () => undefined);
  const port = await freeLoopbackPort();
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
