-- compatible
-- Codes that change by time, for accounts that turned them on. `used_step` is the last step a code was taken of.
CREATE TABLE owl.second_factor (
  account_id uuid PRIMARY KEY REFERENCES owl.account ON DELETE CASCADE,
  secret bytea NOT NULL,
  confirmed_at timestamptz,
  used_step bigint NOT NULL DEFAULT 0
);
CREATE TABLE owl.recovery_code (
  account_id uuid NOT NULL REFERENCES owl.second_factor ON DELETE CASCADE,
  hash bytea NOT NULL,
  PRIMARY KEY (account_id, hash)
);
