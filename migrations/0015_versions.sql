-- compatible
-- Versions: a question asked again or edited follows what the one before it followed. A turn without parent follows the
-- one before it in time, as all did that code of before made; one that is its own parent follows nothing.
ALTER TABLE owl.turn ADD COLUMN parent_id uuid;
CREATE INDEX turn_branches ON owl.turn (conversation_id, parent_id) WHERE parent_id IS NOT NULL;

-- The last turn of the version that is shown; NULL: the newest.
ALTER TABLE owl.conversation ADD COLUMN leaf_id uuid;

CREATE FUNCTION owl.turn_parent(turn uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN t.parent_id = t.id THEN NULL WHEN t.parent_id IS NOT NULL THEN t.parent_id
              ELSE (SELECT p.id FROM owl.turn p
                     WHERE p.conversation_id = t.conversation_id AND (p.created_at, p.id) < (t.created_at, t.id)
                     ORDER BY p.created_at DESC, p.id DESC LIMIT 1) END
    FROM owl.turn t WHERE t.id = turn
$$;

-- The turns that follow `parent`, or that begin the conversation where it is NULL; in no order.
CREATE FUNCTION owl.turn_children(conversation uuid, parent uuid) RETURNS TABLE (id uuid, created_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF parent IS NULL THEN
    RETURN QUERY SELECT t.id, t.created_at FROM owl.turn t
                  WHERE t.conversation_id = conversation AND t.parent_id IS NOT NULL AND t.parent_id = t.id;
    RETURN QUERY SELECT f.id, f.created_at FROM (
                   SELECT t.id, t.created_at, t.parent_id FROM owl.turn t WHERE t.conversation_id = conversation
                    ORDER BY t.created_at, t.id LIMIT 1) f WHERE f.parent_id IS NULL;
  ELSE
    RETURN QUERY SELECT t.id, t.created_at FROM owl.turn t
                  WHERE t.conversation_id = conversation AND t.parent_id = parent AND t.id <> parent;
    RETURN QUERY SELECT f.id, f.created_at FROM owl.turn p, LATERAL (
                   SELECT t.id, t.created_at, t.parent_id FROM owl.turn t
                    WHERE t.conversation_id = conversation AND (t.created_at, t.id) > (p.created_at, p.id)
                    ORDER BY t.created_at, t.id LIMIT 1) f
                  WHERE p.id = parent AND p.conversation_id = conversation AND f.parent_id IS NULL;
  END IF;
END $$;

-- `last` and what it follows, back to the first turn: at most so many, numbered from 1.
CREATE FUNCTION owl.turn_path(last uuid, most int) RETURNS TABLE (id uuid, n int) LANGUAGE plpgsql STABLE AS $$
BEGIN
  id := last;
  n := 0;
  WHILE id IS NOT NULL AND n < most LOOP
    n := n + 1;
    RETURN NEXT;
    id := owl.turn_parent(id);
  END LOOP;
END $$;

-- All versions of a turn, oldest first; none where it is the only one.
CREATE FUNCTION owl.turn_versions(conversation uuid, turn uuid) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
DECLARE
  found uuid[];
BEGIN
  IF NOT EXISTS (SELECT 1 FROM owl.turn t WHERE t.conversation_id = conversation AND t.parent_id IS NOT NULL) THEN
    RETURN '{}';
  END IF;
  SELECT array_agg(c.id ORDER BY c.created_at, c.id) INTO found
    FROM owl.turn_children(conversation, owl.turn_parent(turn)) c;
  RETURN CASE WHEN cardinality(found) > 1 THEN found ELSE '{}' END;
END $$;

-- The end of what follows a turn, by its newest versions.
CREATE FUNCTION owl.turn_leaf(conversation uuid, turn uuid) RETURNS uuid LANGUAGE plpgsql STABLE AS $$
DECLARE
  leaf uuid := turn;
  following uuid;
BEGIN
  -- Bounded, should times ever stand against parents.
  FOR n IN 1 .. 100000 LOOP
    following := NULL;
    SELECT c.id INTO following FROM owl.turn_children(conversation, leaf) c ORDER BY c.created_at DESC, c.id DESC LIMIT 1;
    IF following IS NULL THEN RETURN leaf; END IF;
    leaf := following;
  END LOOP;
  RETURN leaf;
END $$;
