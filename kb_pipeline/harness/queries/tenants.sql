-- The tenants that have judged queries, in the order of their keys, or those of an organisation or a specialist.
SELECT org_id, specialist_id, count(*) FILTER (WHERE status = 'judged') AS judgments
FROM kb_ground_truth
WHERE (%(org_id)s::uuid IS NULL OR org_id = %(org_id)s)
  AND (%(specialist_id)s::uuid IS NULL OR specialist_id = %(specialist_id)s)
GROUP BY org_id, specialist_id
HAVING count(*) FILTER (WHERE status = 'judged') > 0
ORDER BY org_id, specialist_id
