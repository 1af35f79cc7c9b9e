-- compatible
-- Batches over transcriptions, resumable uploads, kept segment plans.

-- The boundaries a recording was cut at, kept so that a later attempt cuts it alike.
ALTER TABLE owl.transcription ADD COLUMN segment_plan jsonb;
-- Active time of the batch when this item ended: throughput and ETA count active time only.
ALTER TABLE owl.transcription ADD COLUMN batch_active_ms bigint;
CREATE INDEX transcription_batch_ended ON owl.transcription (batch_id, batch_active_ms DESC)
  WHERE batch_id IS NOT NULL AND batch_active_ms IS NOT NULL;
-- How long items took of late: what a plan's estimate is made of.
CREATE INDEX transcription_done ON owl.transcription (ended_at DESC) WHERE state = 'done';

-- length: announced by the client, NULL while unknown. writer: the one request that may add bytes.
ALTER TABLE owl.upload ADD COLUMN length bigint;
ALTER TABLE owl.upload ADD COLUMN writer uuid;
ALTER TABLE owl.upload ADD COLUMN moved_at timestamptz NOT NULL DEFAULT clock_timestamp();
CREATE INDEX upload_unfinished ON owl.upload (moved_at) WHERE completed_at IS NULL AND deleted_at IS NULL;

CREATE INDEX playbook_run_account ON owl.playbook_run (account_id, created_at DESC, id DESC);

CREATE FUNCTION owl.batch_active_ms(b owl.batch) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT b.active_ms + coalesce(extract(epoch FROM greatest(clock_timestamp() - b.active_since, '0'::interval)) * 1000, 0)::bigint
$$;

-- An item of a paused batch is not claimed; an item that was asked to stop does not wait in line again.
CREATE FUNCTION owl.guard_transcription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state = 'running' AND OLD.state = 'queued' AND NEW.batch_id IS NOT NULL
     AND EXISTS (SELECT 1 FROM owl.batch WHERE id = NEW.batch_id AND state = 'paused') THEN
    RETURN NULL;
  END IF;
  IF NEW.state = 'queued' AND OLD.state = 'running' AND NEW.stop_requested_at IS NOT NULL THEN
    NEW.state := 'cancelled';
    NEW.ended_at := clock_timestamp();
  END IF;
  IF NEW.ended_at IS NOT NULL AND OLD.ended_at IS NULL AND NEW.batch_id IS NOT NULL THEN
    NEW.batch_active_ms := (SELECT owl.batch_active_ms(b) FROM owl.batch b WHERE b.id = NEW.batch_id);
  ELSIF NEW.ended_at IS NULL THEN
    NEW.batch_active_ms := NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER transcription_guarded BEFORE UPDATE OF state ON owl.transcription FOR EACH ROW
  EXECUTE FUNCTION owl.guard_transcription();

-- Whoever ends the last item (worker, reclaimer, web) ends the batch with it. The batch's row is locked before its items
-- are looked at: of two that end at once, the second sees the first. Lock order everywhere: items, then batch.
CREATE FUNCTION owl.settle_batches() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  touched uuid;
BEGIN
  FOR touched IN SELECT DISTINCT batch_id FROM changed WHERE batch_id IS NOT NULL AND ended_at IS NOT NULL ORDER BY 1 LOOP
    PERFORM 1 FROM owl.batch WHERE id = touched FOR UPDATE;
    UPDATE owl.batch b
       SET state = CASE WHEN EXISTS (SELECT 1 FROM owl.transcription t WHERE t.batch_id = touched AND t.state = 'failed')
                        THEN 'failed' ELSE 'done' END,
           active_ms = owl.batch_active_ms(b), active_since = NULL, ended_at = clock_timestamp()
     WHERE b.id = touched AND b.ended_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM owl.transcription t WHERE t.batch_id = touched AND t.state IN ('queued', 'running'));
  END LOOP;
  PERFORM pg_notify('owl_observe', 'batch:' || seen.batch_id)
     FROM (SELECT DISTINCT batch_id FROM changed WHERE batch_id IS NOT NULL) seen;
  RETURN NULL;
END $$;
CREATE TRIGGER transcription_settles AFTER UPDATE ON owl.transcription REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION owl.settle_batches();
