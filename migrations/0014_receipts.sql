-- compatible
-- Which release took a step last: part of how an answer came about.
ALTER TABLE owl.step ADD COLUMN release text;
