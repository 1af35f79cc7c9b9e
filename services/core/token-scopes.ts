// What an API token may ask for: THE table of routes by scope. Pure.
// Invariant: a route that is not named here is closed to every token, whoever made it: signing in, passwords, tokens,
// administration, the word on a call that waits for a person, and all that is still to come.

export const TOKEN_SCOPES = [
  "chat:read",
  "chat:write",
  "recordings:read",
  "recordings:write",
  "playbooks:read",
  "playbooks:write",
  "schemas:read",
  "schemas:write",
] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

const ROUTES: Readonly<Record<TokenScope, readonly string[]>> = {
  "chat:read": [
    "GET /api/conversations",
    "GET /api/conversations/:id",
    "GET /api/conversations/:id/export",
    "GET /api/turns/:id",
    "GET /api/turns/:id/events",
    "GET /api/turns/:id/steps",
    "GET /api/attachments/:id",
    "GET /api/assistants",
    "GET /api/assistants/:id",
    "GET /api/prompts",
    "GET /api/prompts/:id",
  ],
  "chat:write": [
    "POST /api/conversations",
    "PATCH /api/conversations/:id",
    "DELETE /api/conversations/:id",
    "POST /api/conversations/:id/turns",
    "POST /api/turns/:id/stop",
    "PUT /api/turns/:id/feedback",
    "DELETE /api/turns/:id/feedback",
    "POST /api/attachments",
    "DELETE /api/attachments/:id",
    "POST /api/assistants",
    "PUT /api/assistants/:id",
    "DELETE /api/assistants/:id",
    "POST /api/prompts",
    "PUT /api/prompts/:id",
    "DELETE /api/prompts/:id",
  ],
  "recordings:read": [
    "GET /api/transcriptions",
    "GET /api/transcriptions/:id",
    "GET /api/transcriptions/:id/events",
    "GET /api/transcriptions/:id/text",
    "GET /api/transcriptions/:id/media",
    "GET /api/batches",
    "GET /api/batches/:id",
    "GET /api/batches/:id/events",
    "GET /api/batches/:id/items",
    "GET /api/batches/:id/skipped",
  ],
  "recordings:write": [
    "POST /api/uploads",
    "HEAD /api/uploads/:id",
    "GET /api/uploads/:id",
    "PATCH /api/uploads/:id",
    "DELETE /api/uploads/:id",
    "POST /api/transcriptions",
    "POST /api/transcriptions/:id/stop",
    "POST /api/transcriptions/:id/retry",
    "POST /api/batches/plan",
    "POST /api/batches",
    "POST /api/batches/:id/cancel",
    "POST /api/batches/:id/retry",
    "POST /api/batches/:id/pause",
    "POST /api/batches/:id/resume",
  ],
  "playbooks:read": [
    "GET /api/playbooks",
    "GET /api/playbooks/:id",
    "GET /api/playbook-runs",
    "GET /api/playbook-runs/:id",
    "GET /api/playbook-runs/:id/events",
    "GET /api/schedules",
    "GET /api/schedules/:id",
    "GET /api/schedules/:id/ticks",
  ],
  "playbooks:write": [
    "POST /api/playbooks",
    "PUT /api/playbooks/:id",
    "DELETE /api/playbooks/:id",
    "POST /api/playbooks/:id/runs",
    "POST /api/playbook-runs/:id/stop",
    "POST /api/schedules/:id/run",
  ],
  "schemas:read": [
    "GET /api/data-sources",
    "GET /api/schema-analyses",
    "GET /api/schema-analyses/:id",
    "GET /api/schema-analyses/:id/events",
  ],
  "schemas:write": ["POST /api/schema-analyses", "POST /api/schema-analyses/:id/stop"],
};

const SCOPE_OF = new Map(TOKEN_SCOPES.flatMap((scope) => ROUTES[scope].map((route) => [route, scope] as const)));

/** The scope that opens a route (its method and pattern); null: none does. */
export function scopeOf(method: string, pattern: string): TokenScope | null {
  const asked = SCOPE_OF.get(`${method} ${pattern}`);
  return asked ?? (method === "HEAD" ? (SCOPE_OF.get(`GET ${pattern}`) ?? null) : null);
}

/** Every route that a token can open. */
export const TOKEN_ROUTES: readonly string[] = [...SCOPE_OF.keys()];
