-- A batch of queries that nobody asked since the instant loses its preview.
WITH due AS (
  SELECT org_id, specialist_id, query_sha
  FROM kb_query
  WHERE query_preview IS NOT NULL AND last_seen_at < %(before)s
  LIMIT %(limit)s
  FOR UPDATE SKIP LOCKED
)
UPDATE kb_query AS known
SET query_preview = NULL
FROM due
WHERE known.org_id = due.org_id AND known.specialist_id = due.specialist_id AND known.query_sha = due.query_sha
