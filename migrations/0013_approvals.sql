-- compatible
-- asked: a call that its owner allows or refuses before it is made. It waits as a call of unknown outcome does.
ALTER TABLE owl.step
  DROP CONSTRAINT step_state_check,
  ADD CONSTRAINT step_state_check CHECK (state IN ('asked', 'started', 'finished', 'failed', 'unknown')),
  DROP CONSTRAINT step_answer_check,
  ADD CONSTRAINT step_answer_check CHECK (answer IN ('happened', 'again', 'stop', 'allow', 'refuse'));
