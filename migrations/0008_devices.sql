-- compatible
-- Browsers that an account was signed in with before: wrong passwords of others do not keep them out.
CREATE TABLE owl.device (
  id_hash bytea NOT NULL,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (id_hash, account_id)
);
CREATE INDEX device_account ON owl.device (account_id, seen_at DESC);
CREATE INDEX device_seen ON owl.device (seen_at);
