-- compatible
-- Which model a conversation chose and a turn was asked of (NULL: the usual one), what a turn used of it, and what an
-- account spent in a month: that stays when its conversations are deleted.
ALTER TABLE owl.conversation ADD COLUMN model text;
ALTER TABLE owl.turn
  ADD COLUMN model text,
  ADD COLUMN input_tokens bigint,
  ADD COLUMN output_tokens bigint,
  ADD COLUMN cost double precision;

CREATE TABLE owl.spending (
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  -- Its first day, by UTC.
  month date NOT NULL,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cost double precision NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, month)
);
