-- compatible
-- Ended jobs by state, latest end first, for the administrator's list; whose they are lies beside it, so that a filter
-- by owner reads the index alone.
CREATE INDEX turn_ended_state ON owl.turn (state, ended_at, id) INCLUDE (account_id) WHERE ended_at IS NOT NULL;
CREATE INDEX transcription_ended_state ON owl.transcription (state, ended_at, id) INCLUDE (account_id)
  WHERE ended_at IS NOT NULL;
CREATE INDEX playbook_run_ended_state ON owl.playbook_run (state, ended_at, id) INCLUDE (account_id)
  WHERE ended_at IS NOT NULL;
CREATE INDEX schema_analysis_ended_state ON owl.schema_analysis (state, ended_at, id) INCLUDE (account_id)
  WHERE ended_at IS NOT NULL;
