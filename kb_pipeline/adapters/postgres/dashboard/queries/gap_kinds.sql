-- Diagnosed drafts of a window by kind, each with the preview of its newest query that has one.
SELECT
  g.kind, g.drafts,
  (SELECT q.query_preview
   FROM kb_retrieval_gap AS each
   JOIN kb_query AS q USING (org_id, specialist_id, query_sha)
   WHERE each.kind = g.kind AND each.decided_at >= %(window_start)s AND each.decided_at < %(window_end)s
     AND q.query_preview IS NOT NULL
     AND (%(org)s::uuid IS NULL OR each.org_id = %(org)s)
     AND (%(specialist)s::uuid IS NULL OR each.specialist_id = %(specialist)s)
     AND (%(engine)s::text IS NULL OR each.engine = %(engine)s)
   ORDER BY each.decided_at DESC
   LIMIT 1)
FROM (
  SELECT kind, count(*) AS drafts
  FROM kb_retrieval_gap
  WHERE decided_at >= %(window_start)s AND decided_at < %(window_end)s
  AND (%(org)s::uuid IS NULL OR org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR specialist_id = %(specialist)s)
    AND (%(engine)s::text IS NULL OR engine = %(engine)s)
  GROUP BY kind
) AS g
