-- Judgments in the order of their key, after a place in it if one is given; previews, no text.
SELECT
  t.org_id, t.specialist_id, t.query_sha, t.doc_id, t.status, t.grade, t.p, t.positive, t.negative, t.conversations,
  t.evidence_count, t.kinds, t.last_observed_at, q.query_preview
FROM kb_ground_truth AS t
LEFT JOIN kb_query AS q USING (org_id, specialist_id, query_sha)
WHERE (%(status)s::text IS NULL OR t.status = %(status)s)
  AND (%(grade)s::integer IS NULL OR t.grade = %(grade)s)
  AND (%(org)s::uuid IS NULL OR t.org_id = %(org)s)
  AND (%(specialist)s::uuid IS NULL OR t.specialist_id = %(specialist)s)
  AND (%(after_doc)s::text IS NULL OR (t.org_id, t.specialist_id, t.query_sha, t.doc_id)
       > (%(after_org)s::uuid, %(after_specialist)s::uuid, %(after_sha)s, %(after_doc)s))
ORDER BY t.org_id, t.specialist_id, t.query_sha, t.doc_id
LIMIT %(limit)s
