-- compatible
-- The journal: every step of a turn, a run or an analysis is on record before it is taken and after, so that another
-- worker goes on after the last finished one. Steps of runs were there before; code of before writes no effect and no
-- hash with them, and none for turns and analyses.
ALTER TABLE owl.step DROP CONSTRAINT step_pkey;
ALTER TABLE owl.step
  ALTER COLUMN run_id DROP NOT NULL,
  ADD COLUMN turn_id uuid REFERENCES owl.turn ON DELETE CASCADE,
  ADD COLUMN analysis_id uuid REFERENCES owl.schema_analysis ON DELETE CASCADE,
  ADD COLUMN kind text NOT NULL DEFAULT 'tool' CHECK (kind IN ('model', 'tool')),
  ADD COLUMN effect text CHECK (effect IN ('read', 'write', 'idempotent')),
  -- Of the input as canonical JSON: what a person's answer is bound to.
  ADD COLUMN argument_hash text,
  -- How much of the answer's text was there before it, in UTF-16 units.
  ADD COLUMN text_length int,
  -- A person's word on a step whose outcome is not known, given once.
  ADD COLUMN answer text CHECK (answer IN ('happened', 'again', 'stop')),
  ADD COLUMN answered_by uuid REFERENCES owl.account ON DELETE SET NULL,
  ADD COLUMN answered_at timestamptz,
  ADD CONSTRAINT step_owner CHECK (num_nonnulls(run_id, turn_id, analysis_id) = 1);
CREATE UNIQUE INDEX step_run ON owl.step (run_id, position);
CREATE UNIQUE INDEX step_turn ON owl.step (turn_id, position);
CREATE UNIQUE INDEX step_analysis ON owl.step (analysis_id, position);

-- waiting: for its owner's word. It holds no worker and no queue job.
ALTER TABLE owl.turn
  DROP CONSTRAINT turn_state_check,
  DROP CONSTRAINT turn_check,
  ADD CONSTRAINT turn_state_check CHECK (state IN ('queued', 'running', 'waiting', 'answered', 'stopped', 'failed')),
  ADD CONSTRAINT turn_check CHECK ((state IN ('queued', 'running', 'waiting')) = (ended_at IS NULL));
DROP INDEX owl.turn_one_running;
CREATE UNIQUE INDEX turn_one_running ON owl.turn (conversation_id) WHERE state IN ('queued', 'running', 'waiting');
DROP INDEX owl.turn_account_live;
CREATE INDEX turn_account_live ON owl.turn (account_id, created_at) WHERE state IN ('queued', 'running', 'waiting');
CREATE INDEX turn_waiting ON owl.turn (created_at, id) WHERE state = 'waiting';
ALTER TABLE owl.playbook_run
  DROP CONSTRAINT playbook_run_state_check,
  DROP CONSTRAINT playbook_run_check,
  ADD CONSTRAINT playbook_run_state_check
    CHECK (state IN ('queued', 'running', 'waiting', 'done', 'failed', 'stopped')),
  ADD CONSTRAINT playbook_run_check CHECK ((state IN ('queued', 'running', 'waiting')) = (ended_at IS NULL)),
  ADD COLUMN lost text NOT NULL DEFAULT 'resume' CHECK (lost IN ('resume', 'fail'));
CREATE INDEX playbook_run_waiting ON owl.playbook_run (created_at, id) WHERE state = 'waiting';
ALTER TABLE owl.playbook ADD COLUMN lost text NOT NULL DEFAULT 'resume' CHECK (lost IN ('resume', 'fail'));

-- rewind: text told before is taken back. What is stored already needs no look: it was of the other kinds.
ALTER TABLE owl.turn_event
  DROP CONSTRAINT turn_event_kind_check,
  ADD CONSTRAINT turn_event_kind_check CHECK (kind IN ('state', 'delta', 'tool', 'rewind', 'end')) NOT VALID;

-- The newest format of each kind that a worker knows; code of before says nothing, and knows the first.
ALTER TABLE owl.worker ADD COLUMN formats jsonb NOT NULL DEFAULT '{}';

-- A turn that waits for its owner is one of those an account may have.
CREATE OR REPLACE FUNCTION owl.has_turn_place(account uuid, most int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  margin CONSTANT int := 200;
  held int;
BEGIN
  SELECT count(*) INTO held FROM (
    SELECT 1 FROM owl.turn t
     WHERE t.account_id = account AND t.state IN ('queued', 'running', 'waiting') LIMIT most) AS counted;
  IF held + margin < most THEN RETURN true; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(account::text, 1));
  SELECT count(*) INTO held FROM (
    SELECT 1 FROM owl.turn t
     WHERE t.account_id = account AND t.state IN ('queued', 'running', 'waiting') LIMIT most) AS counted;
  RETURN held < most;
END $$;
