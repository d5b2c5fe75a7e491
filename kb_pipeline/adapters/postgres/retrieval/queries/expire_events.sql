-- A batch of retrieval events past their retention leaves. Their unique index allows no partitions to drop.
WITH due AS (
  SELECT id FROM kb_retrieval_event WHERE occurred_at < %(before)s
  ORDER BY occurred_at
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
DELETE FROM kb_retrieval_event AS event USING due WHERE event.id = due.id
