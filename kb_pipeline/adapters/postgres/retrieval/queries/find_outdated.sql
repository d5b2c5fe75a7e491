-- Evidence that speaks of its document as it is no more: all of it, or that of one tenant, or of one pair.
INSERT INTO stage_outdated (evidence_id)
SELECT e.evidence_id
FROM kb_evidence AS e
LEFT JOIN stage_document AS d USING (org_id, specialist_id, doc_id)
WHERE e.superseded_at IS NULL
  AND (%(org_id)s::uuid IS NULL OR (e.org_id = %(org_id)s AND e.specialist_id = %(specialist_id)s))
  AND (%(doc_id)s::text IS NULL OR (e.query_sha = %(query_sha)s AND e.doc_id = %(doc_id)s))
  AND NOT ({is_of_today})
