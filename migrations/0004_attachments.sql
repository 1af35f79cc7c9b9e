-- compatible
-- Files attached to questions: text only, decoded. turn_id is NULL until the question they go with is accepted.
CREATE TABLE owl.attachment (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  turn_id uuid REFERENCES owl.turn ON DELETE CASCADE,
  position int NOT NULL DEFAULT 0,
  name text NOT NULL,
  -- Of the file as it was sent.
  bytes int NOT NULL,
  -- Of the text, so that a bound over several can be told without reading them.
  characters int NOT NULL,
  text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX attachment_account ON owl.attachment (account_id);
CREATE INDEX attachment_turn ON owl.attachment (turn_id, position) WHERE turn_id IS NOT NULL;
CREATE INDEX attachment_unsent ON owl.attachment (created_at) WHERE turn_id IS NULL;
