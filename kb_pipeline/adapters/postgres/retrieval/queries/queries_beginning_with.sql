-- The query_shas that begin with some digits, of one tenant or of all; two are enough to know that several do.
SELECT DISTINCT query_sha
FROM kb_query
WHERE starts_with(query_sha, %(prefix)s)
  AND (%(org_id)s::uuid IS NULL OR org_id = %(org_id)s)
  AND (%(specialist_id)s::uuid IS NULL OR specialist_id = %(specialist_id)s)
LIMIT 2
