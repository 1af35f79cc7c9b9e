-- compatible
-- Prompts: questions kept for another time under a short name, their owner's alone or the team's. {{name}} in one is
-- filled in where it is used.
CREATE TABLE owl.prompt (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  name text NOT NULL,
  text text NOT NULL,
  shared boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX prompt_account ON owl.prompt (account_id, created_at);
CREATE INDEX prompt_shared ON owl.prompt (name) WHERE shared;
