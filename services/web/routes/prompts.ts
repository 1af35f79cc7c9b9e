// Prompts: kept, listed for the composer, changed, deleted.

import { failure } from "../../core/wire/errors.ts";
import { nothing, withId } from "../../core/wire/parts.ts";
import { type NewPrompt, newPrompt, prompt, prompts } from "../../core/wire/prompt.ts";
import { changePrompt, countPrompts, deletePrompt, findPrompt, insertPrompt, listPrompts } from "../../db/prompts.ts";
import { lockUsage } from "../../db/usage.ts";
import type { Routes } from "../deps.ts";
import { onceOnly } from "../idempotency.ts";
import { accountOf } from "../sessions.ts";

const tags = ["conversations"];
const PROMPTS_AN_ACCOUNT = 100;
const notFound = () => failure("prompt.notFound");
const written = ({ name, text, shared = false }: NewPrompt) => ({ name, text, shared });

export const promptRoutes: Routes = (app, deps) => {
  async function find(id: string, accountId: string) {
    const row = await findPrompt(deps.db, id, accountId);
    if (row === null) throw notFound();
    return row;
  }

  app.get(
    "/api/prompts",
    { schema: { summary: "Prompts to use: one's own and the team's", tags, response: { 200: prompts } } },
    async (request) => ({ items: await listPrompts(deps.db, accountOf(request).id) }),
  );

  app.post(
    "/api/prompts",
    { schema: { summary: "Keep a prompt", tags, body: newPrompt, response: { 201: prompt } } },
    async (request) => {
      const account = accountOf(request);
      const id = deps.random.uuid();
      const one = written(request.body);
      const beginning = [...one.text].slice(0, 120).join("");
      return onceOnly(deps, request, { ...one, id, beginning, own: true, by: account.name }, async (sql) => {
        await lockUsage(sql, account.id);
        if ((await countPrompts(sql, account.id)) >= PROMPTS_AN_ACCOUNT) {
          throw failure("prompt.full", { limit: PROMPTS_AN_ACCOUNT });
        }
        await insertPrompt(sql, id, account.id, one);
      });
    },
  );

  app.get(
    "/api/prompts/:id",
    { schema: { summary: "A prompt with its text", tags, params: withId, response: { 200: prompt } } },
    (request) => find(request.params.id, accountOf(request).id),
  );

  app.put(
    "/api/prompts/:id",
    { schema: { summary: "Write it anew", tags, params: withId, body: newPrompt, response: { 200: prompt } } },
    async (request) => {
      const { id } = request.params;
      const accountId = accountOf(request).id;
      if (!(await changePrompt(deps.db, id, accountId, written(request.body)))) throw notFound();
      return find(id, accountId);
    },
  );

  app.delete(
    "/api/prompts/:id",
    {
      schema: {
        summary: "Delete one's own, or (administrators) one of the team's",
        tags,
        params: withId,
        response: { 204: nothing },
      },
    },
    async (request) => {
      const { id, role } = accountOf(request);
      const isGone = await deletePrompt(deps.db, request.params.id, id, role === "administrator");
      if (!isGone) throw notFound();
    },
  );
};
