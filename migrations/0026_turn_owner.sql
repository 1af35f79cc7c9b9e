-- compatible
-- A turn goes with its conversation, and that with its account. Where an account went for good, this second way from one
-- to the other had all turns there are looked through.
ALTER TABLE owl.turn DROP CONSTRAINT turn_account_id_fkey;
