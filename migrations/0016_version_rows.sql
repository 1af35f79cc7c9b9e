-- compatible
-- How many rows to expect: few, so that what is joined with them is found by its index.
ALTER FUNCTION owl.turn_path(uuid, int) ROWS 20;
ALTER FUNCTION owl.turn_children(uuid, uuid) ROWS 2;
