-- The supervisor's own record. Rows are JSON documents beside the columns they are found by: the code that reads them
-- checks them, and a newer owld may add fields without a migration. user_version is the format's number.
CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS instance (id TEXT PRIMARY KEY, doc TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS rollout (number INTEGER PRIMARY KEY, doc TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS rollout_event (seq INTEGER PRIMARY KEY, rollout TEXT NOT NULL, doc TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS rollout_event_rollout ON rollout_event (rollout, seq);
CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY, doc TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS proxy (id TEXT PRIMARY KEY, doc TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS service (name TEXT PRIMARY KEY, doc TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, doc TEXT NOT NULL) STRICT;
