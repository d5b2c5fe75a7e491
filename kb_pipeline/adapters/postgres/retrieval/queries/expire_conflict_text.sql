-- A batch of conflicting events past their retention loses its content; that there was a conflict stays.
WITH due AS (
  SELECT id FROM kb_retrieval_event_conflict
  WHERE event IS NOT NULL AND created_at < %(before)s
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
UPDATE kb_retrieval_event_conflict AS conflict SET event = NULL FROM due WHERE conflict.id = due.id
