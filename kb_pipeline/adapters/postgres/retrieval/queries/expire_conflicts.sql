-- A batch of conflicting events past their retention leaves.
WITH due AS (
  SELECT id FROM kb_retrieval_event_conflict WHERE created_at < %(before)s
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
DELETE FROM kb_retrieval_event_conflict AS conflict USING due WHERE conflict.id = due.id
