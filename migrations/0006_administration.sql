-- compatible
-- The administration page: past rollouts as owld tells them, the running one asked to end, releases to go back to.

-- Written by owld alone, the newest ones only.
CREATE TABLE owl.rollout_report (
  id text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  rollout jsonb NOT NULL
);

-- Written by web, answered by owld. A table of its own: it concerns a rollout whose approval may still be open.
CREATE TABLE owl.rollout_cancel (
  id uuid PRIMARY KEY,
  rollout text NOT NULL,
  account_id uuid REFERENCES owl.account ON DELETE SET NULL,
  account_name text NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'refused')),
  message text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz
);
CREATE UNIQUE INDEX rollout_cancel_one_open ON owl.rollout_cancel (rollout) WHERE state = 'waiting';
CREATE INDEX rollout_cancel_rollout ON owl.rollout_cancel (rollout, created_at DESC);

-- Written by owld alone: what going back to a release that ran here would cost.
CREATE TABLE owl.rollback_offer (
  version text PRIMARY KEY,
  -- 1: the one that ran last.
  place int NOT NULL,
  plan jsonb NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

ALTER TABLE owl.approval
  DROP CONSTRAINT approval_kind_check,
  DROP CONSTRAINT approval_check,
  ADD CONSTRAINT approval_kind_check CHECK (kind IN ('update', 'restart', 'rollback')),
  ADD CONSTRAINT approval_check CHECK ((kind <> 'restart') = (version IS NOT NULL));
