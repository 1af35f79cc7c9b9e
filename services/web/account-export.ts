// "Export my data": all of one account as a tar file, made while it is sent. JSON lines in parts of a few megabytes, and
// files as they are. Invariant: what is held is one part and one page of rows, however much the account has.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { readInstructions } from "../db/assistants.ts";
import { findAttachment } from "../db/attachments.ts";
import { EXPORTED_KINDS, type ExportedRow, exportRows, exportTurns } from "../db/export.ts";
import type { WebDeps } from "./deps.ts";
import { tarOf } from "./tar.ts";
import { uploadFile } from "./upload-files.ts";

const PART_BYTES = 2 ** 20;

export function exportAccount(deps: WebDeps, account: { readonly id: string; readonly name: string }) {
  const { aside: db } = deps;
  const now = new Date(deps.clock.now());
  const whole = (name: string, told: string | Buffer) => {
    const content = Buffer.from(told);
    return { name, bytes: content.length, modifiedAt: now, content: [content] };
  };

  /** `name-0001.jsonl` and so on, of the rows and of what `each` makes of them. */
  async function* lines(name: string, rows: AsyncIterable<ExportedRow>, each?: (row: ExportedRow) => Promise<void>) {
    let [part, text] = [0, ""];
    const close = () => whole(`${name}-${String(++part).padStart(4, "0")}.jsonl`, text);
    for await (const row of rows) {
      await each?.(row);
      text += `${row.json}\n`;
      if (text.length < PART_BYTES) continue;
      yield close();
      text = "";
    }
    if (text !== "" || part === 0) yield close();
  }

  async function* turns(conversations: AsyncIterable<ExportedRow>) {
    for await (const { id } of conversations) yield* exportTurns(db, account.id, id);
  }

  async function* attachments() {
    for await (const turn of turns(exportRows(db, account.id, "conversations"))) {
      for (const { id } of (JSON.parse(turn.json) as { readonly attachments: readonly { readonly id: string }[] })
        .attachments) {
        const file = await findAttachment(db, id, account.id);
        if (file === null) continue;
        if (file.is === null) yield whole(`attachments/${id}.txt`, file.text);
        else yield whole(`attachments/${id}.${file.is.mediaType.slice("image/".length)}`, file.is.content);
      }
    }
  }

  async function* recordings() {
    for await (const { id } of exportRows(db, account.id, "recordings")) {
      const path = uploadFile(deps, id);
      const found = await stat(path).catch(() => null);
      // Past its retention, or deleted this moment: its row says that it was there.
      if (found === null) continue;
      const content = createReadStream(path, { highWaterMark: 2 ** 18 });
      yield { name: `recordings/${id}`, bytes: found.size, modifiedAt: found.mtime, content };
    }
  }

  async function* entries() {
    const { own: instructions } = await readInstructions(db, account.id);
    yield whole("account.json", `${JSON.stringify({ name: account.name, exportedAt: now, instructions })}\n`);
    for (const kind of EXPORTED_KINDS) yield* lines(kind, exportRows(db, account.id, kind));
    yield* lines("turns", turns(exportRows(db, account.id, "conversations")));
    yield* attachments();
    yield* recordings();
  }

  return tarOf(entries());
}
