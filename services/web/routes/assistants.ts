// Saved assistants, and the instructions that stand before every question: of everyone (administrators write them) and
// of one's own.

import type { z } from "zod";
import { modelsOf } from "../../../config/models.ts";
import {
  assistant,
  assistants,
  givenInstructions,
  instructionsChange,
  type NewAssistant,
  newAssistant,
} from "../../core/wire/assistant.ts";
import { failure } from "../../core/wire/errors.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import {
  changeAssistant,
  countAssistants,
  deleteAssistant,
  findAssistant,
  insertAssistant,
  listAssistants,
  readInstructions,
  writeInstructions,
} from "../../db/assistants.ts";
import { recordAudit } from "../../db/audit.ts";
import { lockUsage } from "../../db/usage.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { accountOf } from "../sessions.ts";

const tags = ["conversations"];
const ASSISTANTS_AN_ACCOUNT = 100;

export const assistantRoutes: Routes = (app, deps) => {
  function written(body: NewAssistant) {
    const { name, instructions, model = null, temperature = null, tools = null, dataSources = null } = body;
    if (model !== null && !modelsOf(deps.config).some((one) => one.name === model)) throw failure("model.unknown");
    const { starters = [], shared = false } = body;
    return { name: name.trim(), instructions, model, temperature, tools, dataSources, starters, shared };
  }

  async function find(id: string, accountId: string): Promise<z.input<typeof assistant>> {
    const row = await findAssistant(deps.db, id, accountId);
    if (row === null) throw failure("assistant.notFound");
    return row as z.input<typeof assistant>;
  }

  app.get(
    "/api/assistants",
    { schema: { summary: "Assistants to choose from: one's own and the team's", tags, response: { 200: assistants } } },
    async (request) => ({ items: await listAssistants(deps.db, accountOf(request).id) }),
  );

  app.post(
    "/api/assistants",
    { schema: { summary: "Save an assistant", tags, body: newAssistant, response: { 201: assistant } } },
    async (request) => {
      const account = accountOf(request);
      const id = deps.random.uuid();
      const one = written(request.body);
      const at = new Date(deps.clock.now());
      const made = { ...one, id, own: true, by: account.name, createdAt: at, updatedAt: at };
      return onceOnly(deps, request, made as z.input<typeof assistant>, async (sql) => {
        await lockUsage(sql, account.id);
        if ((await countAssistants(sql, account.id)) >= ASSISTANTS_AN_ACCOUNT) {
          throw failure("assistant.full", { limit: ASSISTANTS_AN_ACCOUNT });
        }
        await insertAssistant(sql, id, account.id, one);
      });
    },
  );

  app.get(
    "/api/assistants/:id",
    { schema: { summary: "An assistant", tags, params: withId, response: { 200: assistant } } },
    (request) => find(request.params.id, accountOf(request).id),
  );

  app.put(
    "/api/assistants/:id",
    {
      schema: {
        summary: "Write it anew; the next question of each of its chats is answered by that",
        tags,
        params: withId,
        body: newAssistant,
        response: { 200: assistant },
      },
    },
    async (request) => {
      const { id } = request.params;
      const accountId = accountOf(request).id;
      if (!(await changeAssistant(deps.db, id, accountId, written(request.body)))) throw failure("assistant.notFound");
      return find(id, accountId);
    },
  );

  app.delete(
    "/api/assistants/:id",
    {
      schema: {
        summary: "Delete one's own, or (administrators) one of the team's; its chats go on without it",
        tags,
        params: withId,
        response: { 204: nothing },
      },
    },
    async (request) => {
      const { id, role } = accountOf(request);
      const isGone = await deleteAssistant(deps.db, request.params.id, id, role === "administrator");
      if (!isGone) throw failure("assistant.notFound");
    },
  );

  app.get(
    "/api/instructions",
    {
      schema: { summary: "What the model is told before every question", tags, response: { 200: givenInstructions } },
    },
    (request) => readInstructions(deps.db, accountOf(request).id),
  );

  app.put(
    "/api/account/instructions",
    {
      schema: {
        summary: "What it is told in one's own chats",
        tags,
        body: instructionsChange,
        response: { 204: nothing },
      },
    },
    async (request) => {
      await writeInstructions(deps.db, accountOf(request).id, request.body.text);
    },
  );

  app.put(
    "/api/admin/instructions",
    {
      schema: { summary: "What it is told in all chats", tags, body: instructionsChange, response: { 204: nothing } },
    },
    async (request) => {
      const account = accountOf(request);
      await deps.db.transaction(async (sql) => {
        await writeInstructions(sql, null, request.body.text);
        await recordAudit(sql, {
          accountId: account.id,
          accountName: account.name,
          address: request.ip,
          action: "instructions.changed",
        });
      });
    },
  );
};
