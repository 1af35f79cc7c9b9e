-- compatible
-- People whom an identity provider names (auth.oidc), each with the account that is theirs, and the sessions it opened.
CREATE TABLE owl.identity (
  issuer text NOT NULL,
  subject text NOT NULL,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  linked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX identity_account ON owl.identity (account_id);
-- `issuer` null: opened with a password. `provider_session` is what the provider calls its own session.
ALTER TABLE owl.session
  ADD COLUMN issuer text,
  ADD COLUMN subject text,
  ADD COLUMN provider_session text,
  ADD COLUMN id_token text;
CREATE INDEX session_subject ON owl.session (issuer, subject) WHERE issuer IS NOT NULL;
