-- A batch of queries whose words nothing carries any more, because all their events expired or were erased at the
-- source, becomes tombstones: keys without words.
WITH due AS (
  SELECT org_id, specialist_id, query_sha
  FROM kb_query AS known
  WHERE text_expired_at IS NULL
    AND NOT EXISTS (
      SELECT FROM kb_retrieval_event AS event
      WHERE event.org_id = known.org_id AND event.specialist_id = known.specialist_id
        AND event.query_sha = known.query_sha AND event.text_expired_at IS NULL)
    AND NOT EXISTS (
      SELECT FROM kb_search_event AS event
      WHERE event.org_id = known.org_id AND event.specialist_id = known.specialist_id
        AND event.query_sha = known.query_sha AND event.text_expired_at IS NULL
        AND event.event_type = 'kb.search.performed')
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
UPDATE kb_query AS known
SET query = NULL, query_preview = NULL, text_expired_at = now()
FROM due
WHERE known.org_id = due.org_id AND known.specialist_id = due.specialist_id AND known.query_sha = due.query_sha
