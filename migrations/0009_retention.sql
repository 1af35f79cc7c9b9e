-- compatible
-- What is stored has an end: the memory of the one sweeper, accounts on their way out, files to be taken off the disk.

-- 'all' is the lease: who sweeps, until when. A sweep that leaves no mark on what it has done keeps how far it went.
CREATE TABLE owl.sweep (
  name text PRIMARY KEY,
  holder text,
  held_until timestamptz,
  mark_at timestamptz,
  mark_id uuid
);
INSERT INTO owl.sweep (name) VALUES ('all'), ('events');

-- Deleted by an administrator: nobody's to see any more, its rows go bit by bit, itself last.
ALTER TABLE owl.account ADD COLUMN deleted_at timestamptz;

-- Written in the transaction that deletes an upload, whoever deletes it, so that no file outlives its row.
CREATE TABLE owl.discarded_file (
  upload_id uuid PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE FUNCTION owl.discard_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO owl.discarded_file (upload_id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER upload_deleted AFTER DELETE ON owl.upload FOR EACH ROW EXECUTE FUNCTION owl.discard_file();
CREATE TRIGGER upload_marked_deleted AFTER UPDATE OF deleted_at ON owl.upload FOR EACH ROW
  WHEN (NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL) EXECUTE FUNCTION owl.discard_file();
