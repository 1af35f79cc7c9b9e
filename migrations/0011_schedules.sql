-- compatible
-- Schedules: a question or a playbook that is run by the clock. A tick is one row, taken in the transaction that makes
-- its run and moves the schedule on.

CREATE TABLE owl.schedule (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES owl.account,
  name text NOT NULL,
  cron text NOT NULL,
  zone text NOT NULL,
  -- A question, into that conversation or a new one each time; or a playbook. What they name may be gone when it runs.
  text text,
  conversation_id uuid,
  playbook_id uuid,
  missed text NOT NULL CHECK (missed IN ('skip', 'once')),
  overlap text NOT NULL CHECK (overlap IN ('skip', 'queue')),
  jitter_ms int NOT NULL CHECK (jitter_ms BETWEEN 0 AND 3600000),
  paused_at timestamptz,
  -- The next tick, and when it is taken (its jitter after it). Null: it never ticks again.
  next_at timestamptz,
  due_at timestamptz,
  -- What the clock showed when that was reckoned: one that shows less now was wrong then.
  planned_at timestamptz NOT NULL,
  -- A tick that waits for the run before it.
  waiting_at timestamptz,
  last_turn uuid,
  last_run uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((text IS NULL) <> (playbook_id IS NULL)),
  CHECK ((next_at IS NULL) = (due_at IS NULL))
);
CREATE INDEX schedule_account ON owl.schedule (account_id, created_at, id);
CREATE INDEX schedule_due ON owl.schedule (due_at) WHERE paused_at IS NULL;
CREATE INDEX schedule_planned ON owl.schedule (planned_at) WHERE paused_at IS NULL;
CREATE INDEX schedule_waiting ON owl.schedule (waiting_at) WHERE waiting_at IS NOT NULL AND paused_at IS NULL;

CREATE TABLE owl.schedule_tick (
  schedule_id uuid NOT NULL REFERENCES owl.schedule ON DELETE CASCADE,
  tick_at timestamptz NOT NULL,
  -- It stands for the ticks before this one too.
  until_at timestamptz,
  outcome text NOT NULL CHECK (outcome IN ('started', 'waiting', 'skipped', 'missed', 'refused')),
  reason text CHECK (reason IN ('overlap', 'conversation', 'limit', 'gone')),
  by_hand boolean NOT NULL DEFAULT false,
  turn_id uuid,
  run_id uuid,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (schedule_id, tick_at)
);
CREATE INDEX schedule_tick_at ON owl.schedule_tick (at);
