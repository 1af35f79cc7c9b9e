-- compatible
-- The format of each job's row, raised by hand with its kind (services/core/job-kinds.ts): which queue it waits in, so
-- that a worker of older code never claims it. What older code writes is format 1.
ALTER TABLE owl.turn ADD COLUMN format int NOT NULL DEFAULT 1;
ALTER TABLE owl.transcription ADD COLUMN format int NOT NULL DEFAULT 1;
ALTER TABLE owl.playbook_run ADD COLUMN format int NOT NULL DEFAULT 1;
ALTER TABLE owl.schema_analysis ADD COLUMN format int NOT NULL DEFAULT 1;
