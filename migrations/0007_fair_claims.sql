-- compatible
-- Who waits, by account: claims go round the accounts (services/db/line.ts). A row that no queue job stands for (an item
-- of a paused batch) is in no line. Recordings by themselves come before those of a batch.
CREATE INDEX turn_line ON owl.turn (account_id, created_at, id) WHERE state = 'queued' AND queue_job IS NOT NULL;
CREATE INDEX transcription_line ON owl.transcription (account_id, (batch_id IS NOT NULL), created_at, id)
  WHERE state = 'queued' AND queue_job IS NOT NULL;
CREATE INDEX playbook_run_line ON owl.playbook_run (account_id, created_at, id)
  WHERE state = 'queued' AND queue_job IS NOT NULL;
CREATE INDEX schema_analysis_line ON owl.schema_analysis (account_id, created_at, id)
  WHERE state = 'queued' AND queue_job IS NOT NULL;
