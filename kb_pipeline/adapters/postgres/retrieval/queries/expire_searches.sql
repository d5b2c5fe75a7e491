-- A batch of experts' searches past their retention leaves.
WITH due AS (
  SELECT id FROM kb_search_event WHERE occurred_at < %(before)s
  ORDER BY occurred_at
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
DELETE FROM kb_search_event AS event USING due WHERE event.id = due.id
