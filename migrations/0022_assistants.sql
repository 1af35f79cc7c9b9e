-- compatible
-- What the model is told before every question (of everyone: account_id NULL), of one chat, and by a saved assistant,
-- which is its owner's alone or the team's. A chat whose assistant is gone, or no longer shown to its owner, has none.
CREATE TABLE owl.instructions (
  account_id uuid REFERENCES owl.account ON DELETE CASCADE,
  text text NOT NULL
);
CREATE UNIQUE INDEX instructions_of ON owl.instructions
  ((coalesce(account_id, '00000000-0000-0000-0000-000000000000'::uuid)));

CREATE TABLE owl.assistant (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  name text NOT NULL,
  instructions text NOT NULL,
  model text,
  temperature real,
  -- NULL: all of them.
  tools text[],
  data_sources text[],
  starters text[] NOT NULL,
  shared boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX assistant_account ON owl.assistant (account_id, created_at);
CREATE INDEX assistant_shared ON owl.assistant (name) WHERE shared;

ALTER TABLE owl.conversation ADD COLUMN assistant_id uuid, ADD COLUMN instructions text;
