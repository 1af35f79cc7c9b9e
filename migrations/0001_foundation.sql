-- compatible
-- The metastore of the bundled application. Claimable tables (turn, transcription, playbook_run, schema_analysis)
-- share their claim columns: state, attempt (the fence: + 1 at each claim), claimed_by, queue_job, losses.

CREATE SCHEMA IF NOT EXISTS owl;

-- People ------------------------------------------------------------------------------------------------------

CREATE TABLE owl.account (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (name = lower(name) AND length(name) BETWEEN 1 AND 64),
  role text NOT NULL CHECK (role IN ('administrator', 'member')),
  password_hash text NOT NULL,
  initial_password boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  disabled_at timestamptz
);
CREATE UNIQUE INDEX account_name ON owl.account (name);

CREATE TABLE owl.session (
  id_hash bytea PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX session_account ON owl.session (account_id);
CREATE INDEX session_expiry ON owl.session (expires_at);

CREATE TABLE owl.login_failure (
  subject text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX login_failure_subject ON owl.login_failure (subject, at);

CREATE TABLE owl.idempotency_key (
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  route text NOT NULL,
  key text NOT NULL,
  body_hash bytea NOT NULL,
  status int NOT NULL,
  response jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (account_id, route, key)
);
CREATE INDEX idempotency_key_age ON owl.idempotency_key (created_at);

CREATE TABLE owl.audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  account_id uuid REFERENCES owl.account ON DELETE SET NULL,
  account_name text,
  address text,
  action text NOT NULL,
  target text,
  detail jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_at ON owl.audit (at);

-- Workers (written by the worker; gone_at also by owld and the reclaimer) ----------------------------------------

CREATE TABLE owl.worker (
  id text PRIMARY KEY,
  release text NOT NULL,
  pid int NOT NULL,
  host text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  draining_since timestamptz,
  stopped_at timestamptz,
  gone_at timestamptz,
  jobs jsonb NOT NULL DEFAULT '{}',
  counts jsonb NOT NULL DEFAULT '{}',
  reclaimed int NOT NULL DEFAULT 0
);
CREATE INDEX worker_living ON owl.worker (heartbeat_at) WHERE gone_at IS NULL AND stopped_at IS NULL;

CREATE FUNCTION owl.notify_worker_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('owl_worker_gone', NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER worker_gone AFTER UPDATE OF gone_at ON owl.worker
  FOR EACH ROW WHEN (NEW.gone_at IS NOT NULL AND OLD.gone_at IS NULL) EXECUTE FUNCTION owl.notify_worker_gone();

-- Conversations and turns ------------------------------------------------------------------------------------------

CREATE TABLE owl.conversation (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  title text NOT NULL DEFAULT '',
  pinned_at timestamptz,
  archived_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz
);
CREATE INDEX conversation_account ON owl.conversation (account_id, updated_at DESC, id DESC) WHERE deleted_at IS NULL;

CREATE TABLE owl.turn (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES owl.conversation ON DELETE CASCADE,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  text text NOT NULL,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'answered', 'stopped', 'failed')),
  attempt int NOT NULL DEFAULT 0,
  losses int NOT NULL DEFAULT 0,
  claimed_by text,
  claimed_at timestamptz,
  claim_deadline_at timestamptz NOT NULL,
  queue_job uuid,
  stop_requested_at timestamptz,
  answer text,
  message text,
  -- Why it ended: answered, stopped, cut, unclaimed, limit, error.
  cause text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  CHECK ((state IN ('queued', 'running')) = (ended_at IS NULL)),
  CHECK (state <> 'running' OR claimed_by IS NOT NULL),
  CHECK (state <> 'failed' OR message IS NOT NULL)
);
CREATE INDEX turn_conversation ON owl.turn (conversation_id, created_at, id);
CREATE UNIQUE INDEX turn_one_running ON owl.turn (conversation_id) WHERE state IN ('queued', 'running');
CREATE INDEX turn_queued ON owl.turn (created_at, id) WHERE state = 'queued';
CREATE INDEX turn_deadline ON owl.turn (claim_deadline_at) WHERE state = 'queued';
CREATE INDEX turn_account_live ON owl.turn (account_id, created_at) WHERE state IN ('queued', 'running');
CREATE INDEX turn_claims ON owl.turn (claimed_by) WHERE state = 'running';
CREATE INDEX turn_ended ON owl.turn (ended_at) WHERE ended_at IS NOT NULL;

-- Exactly one ending, by constraint: the primary key refuses a second row, the trigger refuses leaving an end.
CREATE TABLE owl.turn_ending (
  turn_id uuid PRIMARY KEY REFERENCES owl.turn ON DELETE CASCADE,
  state text NOT NULL CHECK (state IN ('answered', 'stopped', 'failed')),
  cause text NOT NULL,
  message text,
  attempt int NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE FUNCTION owl.refuse_second_ending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the % % has already ended as %', TG_TABLE_NAME, OLD.id, OLD.state USING ERRCODE = 'OW001';
END $$;
CREATE TRIGGER turn_ends_once BEFORE UPDATE ON owl.turn FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL AND (NEW.state, NEW.ended_at, NEW.message, NEW.answer, NEW.attempt)
        IS DISTINCT FROM (OLD.state, OLD.ended_at, OLD.message, OLD.answer, OLD.attempt))
  EXECUTE FUNCTION owl.refuse_second_ending();

CREATE FUNCTION owl.record_turn_ending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO owl.turn_ending (turn_id, state, cause, message, attempt, at)
  VALUES (NEW.id, NEW.state, coalesce(NEW.cause, NEW.state), NEW.message, NEW.attempt, NEW.ended_at);
  RETURN NULL;
END $$;
CREATE TRIGGER turn_ending_recorded AFTER UPDATE ON owl.turn FOR EACH ROW
  WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION owl.record_turn_ending();

-- What a stream carries, by turn and sequence. kind: state, delta, tool, end.
CREATE TABLE owl.turn_event (
  turn_id uuid NOT NULL REFERENCES owl.turn ON DELETE CASCADE,
  seq int NOT NULL,
  kind text NOT NULL CHECK (kind IN ('state', 'delta', 'tool', 'end')),
  data jsonb NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (turn_id, seq)
);

-- Uploads and transcriptions ---------------------------------------------------------------------------------------

CREATE TABLE owl.upload (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  name text NOT NULL,
  bytes bigint NOT NULL DEFAULT 0,
  sha256 text,
  media_type text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  completed_at timestamptz,
  deleted_at timestamptz
);
CREATE INDEX upload_account ON owl.upload (account_id, created_at);

CREATE TABLE owl.batch (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  kind text NOT NULL,
  request jsonb NOT NULL,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'paused', 'done', 'failed', 'cancelled')),
  total int NOT NULL DEFAULT 0,
  skipped jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Time spent running before the last pause, and since when it runs: throughput and ETA count active time only.
  active_ms bigint NOT NULL DEFAULT 0,
  active_since timestamptz DEFAULT clock_timestamp(),
  ended_at timestamptz
);
CREATE INDEX batch_account ON owl.batch (account_id, created_at DESC, id DESC);

-- A batch's items are the transcriptions that carry its id.
CREATE TABLE owl.transcription (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  batch_id uuid REFERENCES owl.batch ON DELETE CASCADE,
  position int NOT NULL DEFAULT 0,
  upload_id uuid REFERENCES owl.upload,
  path text,
  name text NOT NULL,
  bytes bigint,
  options jsonb NOT NULL DEFAULT '{}',
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  attempt int NOT NULL DEFAULT 0,
  losses int NOT NULL DEFAULT 0,
  claimed_by text,
  claimed_at timestamptz,
  queue_job uuid,
  stop_requested_at timestamptz,
  message text,
  seconds_total double precision,
  seconds_done double precision NOT NULL DEFAULT 0,
  segments_total int,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  moved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  CHECK ((upload_id IS NULL) <> (path IS NULL)),
  CHECK ((state IN ('queued', 'running')) = (ended_at IS NULL))
);
CREATE INDEX transcription_account ON owl.transcription (account_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX transcription_item ON owl.transcription (batch_id, position) WHERE batch_id IS NOT NULL;
CREATE INDEX transcription_batch_state ON owl.transcription (batch_id, state) WHERE batch_id IS NOT NULL;
CREATE INDEX transcription_queued ON owl.transcription (created_at) WHERE state = 'queued';
CREATE INDEX transcription_claims ON owl.transcription (claimed_by) WHERE state = 'running';
CREATE INDEX transcription_upload ON owl.transcription (upload_id) WHERE upload_id IS NOT NULL;

CREATE TABLE owl.segment (
  transcription_id uuid NOT NULL REFERENCES owl.transcription ON DELETE CASCADE,
  n int NOT NULL,
  start_ms bigint NOT NULL,
  end_ms bigint NOT NULL,
  text text NOT NULL,
  attempt int NOT NULL,
  stored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (transcription_id, n)
);
CREATE INDEX segment_words ON owl.segment USING gin (to_tsvector('simple', text));

-- Playbooks --------------------------------------------------------------------------------------------------------

CREATE TABLE owl.playbook (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  name text NOT NULL,
  steps jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz
);
CREATE INDEX playbook_account ON owl.playbook (account_id, created_at);

CREATE TABLE owl.playbook_run (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  playbook_id uuid NOT NULL REFERENCES owl.playbook,
  name text NOT NULL,
  -- The steps as they were when the run was asked for.
  steps jsonb NOT NULL,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'stopped')),
  attempt int NOT NULL DEFAULT 0,
  losses int NOT NULL DEFAULT 0,
  claimed_by text,
  claimed_at timestamptz,
  queue_job uuid,
  stop_requested_at timestamptz,
  message text,
  stopped_at_step text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  CHECK ((state IN ('queued', 'running')) = (ended_at IS NULL))
);
CREATE INDEX playbook_run_playbook ON owl.playbook_run (playbook_id, created_at);
CREATE INDEX playbook_run_queued ON owl.playbook_run (created_at) WHERE state = 'queued';
CREATE INDEX playbook_run_claims ON owl.playbook_run (claimed_by) WHERE state = 'running';
CREATE TRIGGER playbook_run_ends_once BEFORE UPDATE ON owl.playbook_run FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL AND (NEW.state, NEW.ended_at, NEW.attempt) IS DISTINCT FROM (OLD.state, OLD.ended_at, OLD.attempt))
  EXECUTE FUNCTION owl.refuse_second_ending();

-- started is written before a step's tool is called, finished after: what is started and has no end is unknown.
CREATE TABLE owl.step (
  run_id uuid NOT NULL REFERENCES owl.playbook_run ON DELETE CASCADE,
  position int NOT NULL,
  step_id text NOT NULL,
  tool text NOT NULL,
  input jsonb,
  state text NOT NULL CHECK (state IN ('started', 'finished', 'failed', 'unknown')),
  output jsonb,
  message text,
  attempt int NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  PRIMARY KEY (run_id, position)
);

-- Schema analyses --------------------------------------------------------------------------------------------------

CREATE TABLE owl.schema_analysis (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account ON DELETE CASCADE,
  data_source text NOT NULL,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed', 'stopped')),
  attempt int NOT NULL DEFAULT 0,
  losses int NOT NULL DEFAULT 0,
  claimed_by text,
  claimed_at timestamptz,
  queue_job uuid,
  stop_requested_at timestamptz,
  message text,
  tables_total int,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  CHECK ((state IN ('queued', 'running')) = (ended_at IS NULL))
);
CREATE INDEX schema_analysis_account ON owl.schema_analysis (account_id, created_at DESC);
CREATE INDEX schema_analysis_queued ON owl.schema_analysis (created_at) WHERE state = 'queued';
CREATE INDEX schema_analysis_claims ON owl.schema_analysis (claimed_by) WHERE state = 'running';
CREATE TRIGGER schema_analysis_ends_once BEFORE UPDATE ON owl.schema_analysis FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL AND (NEW.state, NEW.ended_at, NEW.attempt) IS DISTINCT FROM (OLD.state, OLD.ended_at, OLD.attempt))
  EXECUTE FUNCTION owl.refuse_second_ending();

CREATE TABLE owl.table_description (
  analysis_id uuid NOT NULL REFERENCES owl.schema_analysis ON DELETE CASCADE,
  table_schema text NOT NULL,
  table_name text NOT NULL,
  description text NOT NULL,
  columns jsonb NOT NULL DEFAULT '[]',
  attempt int NOT NULL,
  stored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (analysis_id, table_schema, table_name)
);

-- Data sources that prepare added (the demo), beside those of owl.yaml. -------------------------------------------------

CREATE TABLE owl.data_source (
  name text PRIMARY KEY,
  url text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Between web and owld: rows only ----------------------------------------------------------------------------------

CREATE TABLE owl.approval (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('update', 'restart')),
  version text,
  services text[],
  account_id uuid REFERENCES owl.account ON DELETE SET NULL,
  account_name text NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'succeeded', 'failed', 'refused')),
  rollout text,
  progress jsonb NOT NULL DEFAULT '{}',
  message text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  CHECK ((kind = 'update') = (version IS NOT NULL))
);
CREATE UNIQUE INDEX approval_one_open ON owl.approval ((true)) WHERE state IN ('waiting', 'running');
CREATE INDEX approval_created ON owl.approval (created_at DESC);

CREATE FUNCTION owl.notify_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('owl_approval', NEW.id::text);
  RETURN NULL;
END $$;
CREATE TRIGGER approval_written AFTER INSERT ON owl.approval FOR EACH ROW EXECUTE FUNCTION owl.notify_approval();

-- Releases owld offers on the page (staged, or lying in incoming/).
CREATE TABLE owl.release_offer (
  version text PRIMARY KEY,
  manifest jsonb NOT NULL,
  notes text NOT NULL DEFAULT '',
  plan jsonb NOT NULL DEFAULT '{}',
  offered_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE owl.system_status (
  id int PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  status jsonb NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
