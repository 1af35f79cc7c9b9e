-- compatible
-- The folder a conversation lies in, by name; NULL: in none. A folder is there as long as something lies in it.
ALTER TABLE owl.conversation ADD COLUMN folder text;
