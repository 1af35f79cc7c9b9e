// A member who floods: questions, statements, searches, batches, uploads and odd texts, all at once and without end.
// What is refused (429, 413) is asked again a moment later: refusing is how the product guards the others.

import { systemClock } from "../../../config/system-time.ts";
import { type Answer, type Caller, createCaller, textOf } from "../caller.ts";

type Piece = (member: Caller, n: number) => Promise<Answer>;

async function ask(member: Caller, text: string): Promise<Answer> {
  const made = await member.once("POST", "/api/conversations", { body: {} });
  const id = textOf(made.body, "id");
  return id === "" ? made : member.once("POST", `/api/conversations/${id}/turns`, { body: { text } });
}

const SILENCE = Buffer.alloc(2 ** 20);
SILENCE.write(
  "RIFF\xff\xff\x0f\x00WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\xdb\xff\x0f\x00",
  "latin1",
);

/** How many at a time, and what each of them does over and over. `archive`: a folder that batches may read. */
function floodsIn(archive: string): Readonly<Record<string, { readonly lanes: number; readonly piece: Piece }>> {
  return {
    turns: { lanes: 6, piece: (member, n) => ask(member, `flood ${n}: say 30 words every 100 ms`) },
    statements: {
      lanes: 4,
      piece: (member, n) => ask(member, `sql: SELECT count(*) + ${n} FROM generate_series(1, 2000000)`),
    },
    searches: {
      lanes: 4,
      piece: (member, n) => member.once("GET", `/api/conversations?search=${encodeURIComponent(`flood ${n}`)}`),
    },
    batches: {
      lanes: 1,
      async piece(member) {
        const body = { kind: "transcription", path: archive };
        const planned = await member.once("POST", "/api/batches", { body });
        const id = textOf(planned.body, "batchId");
        await systemClock.sleep(2_000);
        return id === "" ? planned : member.once("POST", `/api/batches/${id}/cancel`, { body: {} });
      },
    },
    uploads: {
      lanes: 2,
      async piece(member) {
        const sent = await member.once("POST", "/api/uploads?name=flood.wav", { raw: SILENCE });
        const id = textOf(sent.body, "uploadId");
        return id === "" ? sent : member.once("DELETE", `/api/uploads/${id}`);
      },
    },
    oddTexts: {
      lanes: 2,
      piece: (member, n) =>
        n % 2 === 0
          ? ask(member, "녹음 ".repeat(30_000))
          : member.once("POST", "/api/playbooks", {
              body: {
                name: "odd",
                steps: [{ id: "a", tool: "sql", input: { dataSource: "demo", sql: "${".repeat(60_000) } }],
              },
            }),
    },
  };
}

export const passwordOf = (name: string): string => `Correct-horse-9-${name}`;

/** A member of that name, made by `admin` and signed in. */
export async function makeMember(admin: Caller, port: number, name: string): Promise<Caller> {
  const password = passwordOf(name);
  await admin.once("POST", "/api/admin/users", { body: { name, role: "member", password } });
  const member = createCaller(port);
  if (!(await member.signIn(name, password))) throw new Error(`${name} could not sign in`);
  return member;
}

/** All floods at once, until `ending`; then the member's open questions are stopped. Answers what was answered, by status. */
export async function flood(
  member: Caller,
  archive: string,
  ending: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const answered: Record<string, number> = {};
  const open: string[] = [];
  const lane = async (name: string, piece: Piece): Promise<void> => {
    for (let n = 0; !ending.aborted; n++) {
      const { status, body } = await piece(member, n);
      const key = `${name} ${status ?? "none"}`;
      answered[key] = (answered[key] ?? 0) + 1;
      const turnId = textOf(body, "turnId");
      if (turnId !== "") open.push(turnId);
      await systemClock.sleep(status !== null && status < 300 ? 20 : 200);
    }
  };
  const lanes = Object.entries(floodsIn(archive)).flatMap(([name, one]) =>
    Array.from({ length: one.lanes }, () => lane(name, one.piece)),
  );
  await Promise.all(lanes);
  for (const id of open) await member.once("POST", `/api/turns/${id}/stop`, { body: {} });
  return answered;
}
