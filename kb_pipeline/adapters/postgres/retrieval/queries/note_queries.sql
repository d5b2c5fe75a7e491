-- Adds queries, or widens the time in which they were seen; words come back when somebody asks the same again. A row
-- that would not change is not touched. In the order of the key, so that two at work do not wait for each other.
INSERT INTO kb_query AS known (
  org_id, specialist_id, query_sha, query, query_preview, first_seen_at, last_seen_at, text_expired_at)
SELECT
  org_id, specialist_id, query_sha, query, query_preview, first_seen_at, last_seen_at,
  CASE WHEN query IS NULL THEN now() END
FROM unnest(
  %(org_ids)s::uuid[], %(specialist_ids)s::uuid[], %(query_shas)s::text[], %(queries)s::text[], %(previews)s::text[],
  %(first_seen)s::timestamptz[], %(last_seen)s::timestamptz[]
) AS seen (org_id, specialist_id, query_sha, query, query_preview, first_seen_at, last_seen_at)
ORDER BY org_id, specialist_id, query_sha
ON CONFLICT (org_id, specialist_id, query_sha) DO UPDATE SET
  query           = coalesce(known.query, excluded.query),
  query_preview   = coalesce(known.query_preview, excluded.query_preview),
  first_seen_at   = least(known.first_seen_at, excluded.first_seen_at),
  last_seen_at    = greatest(known.last_seen_at, excluded.last_seen_at),
  text_expired_at = CASE WHEN coalesce(known.query, excluded.query) IS NULL THEN known.text_expired_at END
WHERE (known.query IS NULL AND excluded.query IS NOT NULL)
   OR (known.query_preview IS NULL AND excluded.query_preview IS NOT NULL)
   OR excluded.first_seen_at < known.first_seen_at
   OR excluded.last_seen_at > known.last_seen_at
