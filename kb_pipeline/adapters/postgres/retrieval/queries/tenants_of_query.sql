-- The tenants that were asked a query, with its words where they have not expired.
SELECT org_id, specialist_id, query, query_preview, first_seen_at, last_seen_at, text_expired_at
FROM kb_query
WHERE query_sha = %(query_sha)s
  AND (%(org_id)s::uuid IS NULL OR org_id = %(org_id)s)
  AND (%(specialist_id)s::uuid IS NULL OR specialist_id = %(specialist_id)s)
ORDER BY org_id, specialist_id
