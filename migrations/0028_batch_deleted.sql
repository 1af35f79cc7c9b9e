-- compatible
-- A batch that its owner deleted: gone for people at once, with its items a few at a time by the sweep.
ALTER TABLE owl.batch ADD COLUMN deleted_at timestamptz;
