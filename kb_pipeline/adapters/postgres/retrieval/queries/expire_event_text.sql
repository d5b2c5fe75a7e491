-- A batch of retrieval events past their retention loses its words; the row stays.
WITH due AS (
  SELECT id FROM kb_retrieval_event
  WHERE text_expired_at IS NULL AND occurred_at < %(before)s
  ORDER BY occurred_at
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
UPDATE kb_retrieval_event AS event
SET query = '', query_rewritten = NULL, text_expired_at = now()
FROM due
WHERE event.id = due.id
