-- A batch of triads past their retention loses its text; the row stays as a tombstone.
WITH due AS (
  SELECT event_id FROM rag_triad
  WHERE text_expired_at IS NULL AND ts < %(before)s
  ORDER BY ts
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
UPDATE rag_triad AS t
SET question = NULL, context = NULL, passages = NULL, history = NULL, answer = NULL, text_expired_at = now()
FROM due
WHERE t.event_id = due.event_id
