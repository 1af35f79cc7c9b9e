-- compatible
-- Tokens of accounts for scripts. Only the hash of one is kept; `prefix` is what it begins with, to tell it from others.
CREATE TABLE owl.api_token (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  prefix text NOT NULL,
  hash bytea NOT NULL UNIQUE,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX api_token_account ON owl.api_token (account_id);
CREATE INDEX api_token_expiry ON owl.api_token (expires_at);
