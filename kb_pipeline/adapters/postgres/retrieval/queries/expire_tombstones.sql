-- A batch of tombstones leaves that no event and no evidence needs as a key.
WITH due AS (
  SELECT org_id, specialist_id, query_sha
  FROM kb_query AS known
  WHERE text_expired_at IS NOT NULL AND last_seen_at < %(before)s
    AND NOT EXISTS (
      SELECT FROM kb_evidence AS e
      WHERE e.org_id = known.org_id AND e.specialist_id = known.specialist_id AND e.query_sha = known.query_sha)
    AND NOT EXISTS (
      SELECT FROM kb_retrieval_event AS event
      WHERE event.org_id = known.org_id AND event.specialist_id = known.specialist_id
        AND event.query_sha = known.query_sha)
    AND NOT EXISTS (
      SELECT FROM kb_search_event AS event
      WHERE event.org_id = known.org_id AND event.specialist_id = known.specialist_id
        AND event.query_sha = known.query_sha)
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
DELETE FROM kb_query AS known
USING due
WHERE known.org_id = due.org_id AND known.specialist_id = due.specialist_id AND known.query_sha = due.query_sha
