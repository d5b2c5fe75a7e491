-- A batch of experts' searches past their retention loses its words; the row stays.
WITH due AS (
  SELECT id FROM kb_search_event
  WHERE text_expired_at IS NULL AND event_type = 'kb.search.performed' AND occurred_at < %(before)s
  ORDER BY occurred_at
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
UPDATE kb_search_event AS event
SET query = NULL, text_expired_at = now()
FROM due
WHERE event.id = due.id
