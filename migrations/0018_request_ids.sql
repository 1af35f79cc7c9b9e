-- compatible
-- The request that asked for a job, as the logs of the proxy and of the web name it; NULL: nobody's (a schedule's).
ALTER TABLE owl.turn ADD COLUMN request_id text;
ALTER TABLE owl.transcription ADD COLUMN request_id text;
ALTER TABLE owl.playbook_run ADD COLUMN request_id text;
ALTER TABLE owl.schema_analysis ADD COLUMN request_id text;
