-- compatible
-- What people thought of answers: administrators read these turns, and no others. A word of feedback ends with its turn.
CREATE TABLE owl.feedback (
  turn_id uuid PRIMARY KEY REFERENCES owl.turn ON DELETE CASCADE,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  good boolean NOT NULL,
  note text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX feedback_newest ON owl.feedback (at, turn_id);
CREATE INDEX feedback_account ON owl.feedback (account_id);
