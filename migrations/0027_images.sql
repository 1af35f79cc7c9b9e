-- compatible
-- Images attached to questions, as they were sent; their `text` is empty. NULL: the file is text.
ALTER TABLE owl.attachment
  ADD COLUMN media_type text,
  ADD COLUMN width int,
  ADD COLUMN height int,
  ADD COLUMN image bytea;
-- Pictures are compressed already.
ALTER TABLE owl.attachment ALTER COLUMN image SET STORAGE EXTERNAL;
