-- compatible
-- Read-only links to a conversation as it stood when the link was made (`leaf_id`: its last turn then). Of the link
-- only a hash is kept; it ends with its conversation.
CREATE TABLE owl.share (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES owl.conversation ON DELETE CASCADE,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  token_hash bytea NOT NULL UNIQUE,
  leaf_id uuid NOT NULL,
  -- Whoever has the link, or signed-in accounts alone.
  for_anyone boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX share_conversation ON owl.share (conversation_id);
CREATE INDEX share_account ON owl.share (account_id, created_at);
CREATE INDEX share_expiry ON owl.share (expires_at);
