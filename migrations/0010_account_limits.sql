-- compatible
-- What an account holds is counted whenever it adds to it (`limits` of owl.yaml).

-- Far from the limit nobody waits: those who count at once may go past each other by as many as they are, which is fewer
-- than the margin. Near it they count one after the other. Volatile: each count sees what was committed before it.
CREATE FUNCTION owl.has_turn_place(account uuid, most int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  margin CONSTANT int := 200;
  held int;
BEGIN
  SELECT count(*) INTO held FROM (
    SELECT 1 FROM owl.turn t WHERE t.account_id = account AND t.state IN ('queued', 'running') LIMIT most) AS counted;
  IF held + margin < most THEN RETURN true; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(account::text, 1));
  SELECT count(*) INTO held FROM (
    SELECT 1 FROM owl.turn t WHERE t.account_id = account AND t.state IN ('queued', 'running') LIMIT most) AS counted;
  RETURN held < most;
END $$;

CREATE INDEX upload_held ON owl.upload (account_id) INCLUDE (bytes, length, completed_at) WHERE deleted_at IS NULL;
CREATE INDEX attachment_held ON owl.attachment (account_id) INCLUDE (bytes, turn_id);
DROP INDEX owl.attachment_account;
