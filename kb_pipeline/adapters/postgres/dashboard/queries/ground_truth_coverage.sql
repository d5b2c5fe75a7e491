-- Queries that are known, and those of them with a judged document.
SELECT
  (SELECT count(*) FROM kb_query WHERE true
  AND (%(org)s::uuid IS NULL OR org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR specialist_id = %(specialist)s)),
  (SELECT count(DISTINCT (org_id, specialist_id, query_sha)) FROM kb_ground_truth WHERE status = 'judged'
  AND (%(org)s::uuid IS NULL OR org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR specialist_id = %(specialist)s))
